-- The accounts in MySQL or MariaDB. Names and records are bytes and are compared byte by byte. The usual collations
-- ignore case, accents and trailing spaces, which the other stores do not.
CREATE TABLE IF NOT EXISTS accounts (
  name   VARBINARY(64)  NOT NULL PRIMARY KEY,
  record VARBINARY(255) NOT NULL  -- names its own scheme: $argon2id$... or $plain$...
) ENGINE=InnoDB CHARACTER SET binary;
