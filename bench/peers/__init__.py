"""The systems that Turnstile is compared with, and the meter of those that speak HTTP.

Each is started as our servers are: by rig/processes.py, in our session, on loopback, in front
of the same folder of files and the same Redis.

  nginx.py   nginx: static files, with Lua and Redis in-process, and with auth_request
  caddy.py   Caddy: static files
  dufs.py    dufs: a share with WebDAV
  bare.py    our own bare programs: two hops that check nothing, and the service of auth_request
  wrk.py     the meter
  rclone.py  a client of WebDAV

pure-ftpd and vsftpd come with the load generator's FTP driver.
"""
