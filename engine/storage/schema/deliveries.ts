/** Events for receivers outside. */
export const deliveriesSchema = `
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_seq INTEGER NOT NULL,
  event TEXT NOT NULL,
  message_id TEXT NOT NULL,
  url TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending','delivered','dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, first_at INTEGER NOT NULL, next_at INTEGER NOT NULL,
  delivered_at INTEGER, last_status INTEGER, last_error TEXT
) STRICT;
CREATE INDEX delivery_due ON delivery (url, next_at) WHERE state = 'pending';
CREATE INDEX delivery_next ON delivery (next_at) WHERE state = 'pending';
CREATE INDEX delivery_dead ON delivery (id) WHERE state = 'dead';
CREATE INDEX delivery_settled ON delivery (created_at) WHERE state <> 'pending';
`;
