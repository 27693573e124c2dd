-- The image gives the authserver's account all privileges on its database. It needs those below only.
REVOKE ALL PRIVILEGES ON turnstile.* FROM turnstile;
GRANT SELECT, INSERT, UPDATE, DELETE ON turnstile.accounts TO turnstile;
