-- The image gives the authserver's account all privileges on its database. It needs to read and to add accounts only.
REVOKE ALL PRIVILEGES ON turnstile.* FROM turnstile;
GRANT SELECT, INSERT ON turnstile.accounts TO turnstile;
