import { createHmac } from 'node:crypto';
import Database from 'better-sqlite3';

const ROWS = 20;
const TEXT = JSON.stringify({
  tasks: Array.from({ length: ROWS }, (_, at) => ({
    id: `t-${at}`,
    title: `task number ${at}`,
    created_at: '2026-11-21T10:00:00Z',
    isOpen: at % 2 === 0,
    counts: [at, at * 2, at * 3],
  })),
});

/**
 * Returns work of the kinds that an answer consists of: a signature, JSON, and rows of a database in memory. Its
 * processor time is the unit in which operations are measured.
 */
export function createStandardWork(): () => Promise<void> {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT NOT NULL, at INTEGER NOT NULL)');
  const insert = db.prepare('INSERT INTO row (text, at) VALUES (?, ?)');
  const newest = db.prepare(`SELECT id, text, at FROM row ORDER BY id DESC LIMIT ${ROWS}`);
  for (let at = 0; at < ROWS; at += 1) insert.run('text of a row', at);
  return async () => {
    const mac = createHmac('sha256', 'secret').update(TEXT).digest('hex');
    const { lastInsertRowid } = insert.run(mac, Date.now());
    const answer = { ...(JSON.parse(TEXT) as object), rows: newest.all(), id: Number(lastInsertRowid) };
    if (JSON.stringify(answer).length < TEXT.length) throw new Error('the standard work lost its text');
    await new Promise((next) => setImmediate(next));
  };
}
