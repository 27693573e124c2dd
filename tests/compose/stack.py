"""Deploys docker/stack.yml on a swarm."""

from engine import SETTINGS, run

# All names of Redis are in one certificate.
REDIS_NAMES = "redis,redis-1,redis-2,redis-3,sentinel-1,sentinel-2,sentinel-3"


def image(program: str) -> str:
    """Returns the full name of the program's image."""
    return f"{SETTINGS['IMAGES']}/{program}:{SETTINGS['TAG']}"


def make_certificates(passwords: str) -> None:
    """In the folder `passwords`, with an authority of their own."""
    hosts = ("fileserver", "authserver", "mysql", REDIS_NAMES)
    run("scripts/make-certificates", f"{passwords}/tls", *hosts)


def deploy(stack: str, passwords: str, env: dict[str, str], *changes: str) -> None:
    """Deploys the stack with the passwords and certificates in the folder `passwords`.

    `env` says which engine, and has variables of docker-compose.yml. `changes` are further options
    of docker/stack-config.
    """
    env = env | SETTINGS | {"SECRETS": passwords, "COMPOSE_PROJECT_NAME": stack}
    config = run("docker/stack-config", "--env-file", "/dev/null", *changes, env=env)
    options = ["--resolve-image", "never", "--compose-file", "-"]
    run("docker", "stack", "deploy", *options, stack, stdin=config, env=env)
