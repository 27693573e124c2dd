"""Other people's FTP servers, as private copies: nothing of them is installed on the host.

packages.py          downloads and unpacks them
server.py            what is common to all: accounts, start, stop
namespace.py         a mount namespace, for servers that read the files of the host
pure_ftpd.py, vsftpd.py, proftpd.py, pyftpd.py      one server each
gridftp.py, inetutils.py, nginx.py                  and these
pyftpd_server.py     the program around pyftpdlib, which is a library
system.py            each as a system under test
pair.py              two of them, for copies from one to the other
known.py             all entries by their names; plain, tuned and writable are entries of their own
"""
