# Turnstile's images. There is one target for each: authserver, fileserver, loadgen, setup, which runs once before
# them, proxy, prometheus and lab. docker-compose.yml builds them all. To build one whose --version says the commit:
#
#   docker build --target fileserver --tag turnstile/fileserver --build-arg COMMIT="$(packaging/commit)" .

FROM debian:trixie-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ make pkg-config ccache libcli11-dev libspdlog-dev libfmt-dev \
      nlohmann-json3-dev libboost-context-dev libsodium-dev libssl-dev libseccomp-dev libsqlite3-dev \
      libexpat1-dev zlib1g-dev libhiredis-dev default-libmysqlclient-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Makefile ./
COPY lib lib
COPY sql sql
COPY authserver authserver
COPY fileserver fileserver
COPY loadgen loadgen
COPY lab/delay_line lab/delay_line
ARG COMMIT=
# ccache looks objects up by the content of their sources, so it never returns an object of another version.
RUN --mount=type=cache,id=turnstile-ccache,target=/root/.cache/ccache \
    make -j"$(nproc)" CXX='ccache g++' CXXFLAGS=-O2 UNITY=1 COMMIT="$COMMIT" all
# The lab profiles the programs by the names of their functions. The other images have no use for these names.
RUN for program in authserver fileserver loadgen; do strip -o "/usr/local/bin/$program" "build/$program"; done

FROM debian:trixie-slim AS setup
RUN apt-get update \
 && apt-get install -y --no-install-recommends openssl python3 \
 && rm -rf /var/lib/apt/lists/*
# A new volume takes its owner from the first image that mounts it, which may be this one.
RUN install -d -o 10001 -g 10001 /srv/files
COPY scripts/make-files docker/make-secrets docker/make-certificate docker/give-certificate /usr/local/bin/

FROM debian:trixie-slim AS runtime
RUN apt-get update \
 && apt-get install -y --no-install-recommends libstdc++6 libfmt10 libspdlog1.15 libboost-context1.83.0 \
      libsodium23 libssl3t64 libseccomp2 libsqlite3-0 libexpat1 zlib1g libhiredis1.1.0 libmariadb3 \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --user-group --no-create-home turnstile \
 && install -d -o turnstile -g turnstile /srv/files /var/lib/turnstile
COPY docker/ask /usr/local/bin/
USER turnstile
# `ping` also asks every server behind this one, and each check starts a process. So the interval is not shorter.
HEALTHCHECK --interval=5s --timeout=4s --start-period=300s CMD ["ask", "ping"]

# nginx for the profile `tls`. Its configuration is mounted: docker/nginx.conf and docs/tls/nginx.conf.
FROM debian:trixie-slim AS proxy
RUN apt-get update \
 && apt-get install -y --no-install-recommends curl nginx \
 && rm -rf /var/lib/apt/lists/*
USER www-data
EXPOSE 443
# The fileserver asks the authserver before it answers. The certificate may be for any name.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s \
  CMD ["curl", "--silent", "--fail", "--insecure", "--output", "/dev/null", "https://127.0.0.1/-/health"]
STOPSIGNAL SIGQUIT
ENTRYPOINT ["nginx", "-e", "stderr"]

# Prometheus for the profile `monitoring`. Its configuration is mounted: docs/monitoring.
FROM debian:trixie-slim AS prometheus
RUN apt-get update \
 && apt-get install -y --no-install-recommends prometheus \
 && rm -rf /var/lib/apt/lists/*
RUN install -d -o prometheus -g prometheus /prometheus
USER prometheus
WORKDIR /prometheus
EXPOSE 9090
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s \
  CMD ["promtool", "check", "healthy", "--url=http://127.0.0.1:9090"]
ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]

FROM runtime AS authserver
COPY --from=build /usr/local/bin/authserver /usr/local/bin/
COPY docker/account /usr/local/bin/
ENV AUTHSERVER_LISTEN=0.0.0.0:9001 AUTHSERVER_SQLITE_PATH=/var/lib/turnstile/accounts.db ASK_SERVER=127.0.0.1:9001
EXPOSE 9001
ENTRYPOINT ["authserver"]

FROM runtime AS fileserver
COPY --from=build /usr/local/bin/fileserver /usr/local/bin/
ENV FILESERVER_LISTEN=0.0.0.0:9000 FILESERVER_ROOT=/srv/files
EXPOSE 9000
ENTRYPOINT ["fileserver"]

FROM runtime AS loadgen
COPY --from=build /usr/local/bin/loadgen /usr/local/bin/
COPY docker/load /usr/local/bin/
ENV LOADGEN_VERIFY_ROOT=/srv/files
HEALTHCHECK NONE
ENTRYPOINT ["load"]

# The lab, with what `scripts/setup lab` installs, and nginx, to compare with. It is root, because it empties caches and
# makes namespaces.
FROM runtime AS lab
USER root
RUN apt-get update \
 && apt-get install -y --no-install-recommends haproxy iperf3 iproute2 mariadb-server nginx openssl python3 \
      redis-server util-linux-extra valgrind \
 && rm -rf /var/lib/apt/lists/*
RUN install -d /results
WORKDIR /opt/turnstile
COPY --from=build /src/build/authserver /src/build/fileserver /src/build/loadgen build/
COPY --from=build /src/build/lab/delay_line build/lab/
COPY lab lab
COPY rig rig
COPY scripts/drop-caches scripts/lab scripts/make-files scripts/
COPY docker/lab /usr/local/bin/
ENV TURNSTILE_LAB_RESULTS=/results
HEALTHCHECK NONE
ENTRYPOINT ["/usr/local/bin/lab"]
CMD ["--help"]
