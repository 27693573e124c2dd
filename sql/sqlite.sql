-- The accounts in the embedded store. Names and records are bytes and are compared byte by byte.
CREATE TABLE IF NOT EXISTS accounts (
  name   BLOB NOT NULL PRIMARY KEY,
  record BLOB NOT NULL  -- names its own scheme: $argon2id$... or $plain$...
) WITHOUT ROWID;
