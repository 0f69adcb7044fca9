import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { formatId, parseId } from '../../base/ids.ts';
import type { Storage } from '../../storage/index.ts';

/** Whose run a call of the gateway belongs to. */
export interface KeyHolder {
  sessionId: string;
  taskId: string;
  /** Tokens that the task may spend; null for no bound of its own. */
  budgetTokens: number | null;
}

/** Owns the virtual keys of runs: one per session while it runs, of which only a hash is kept. */
export interface Keys {
  /** Where the gateway is. Throws `gateway_unreachable` when nothing listens there. */
  url(): Promise<string>;
  /** The same address, whether anything answers there or not. */
  route(): string;
  /** Inside `storage.write`: a new key; earlier ones of the session hold no longer. */
  issue(holder: KeyHolder): string;
  /** Inside `storage.write`. */
  revoke(sessionId: string): void;
  /** Null for a key that was never issued, or holds no longer. */
  verify(key: string): KeyHolder | null;
  /** Inside `storage.write`: a provider has said that the holder must wait until then, Unix ms. */
  limit(key: string, until: number): void;
  /** Of the session's last key; null when nobody said so. */
  limitedUntil(sessionId: string): number | null;
}

interface Row {
  session_id: number;
  task_id: number;
  budget_tokens: number | null;
}

/** Long enough that a key cannot be guessed, and with a word that a scanner for secrets can find. */
const newKey = (): string => `svc-vkey-${randomBytes(32).toString('base64url')}`;
const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

const PROBE_MS = 2000;

export function createKeys({
  storage,
  clock,
  address,
}: {
  storage: Storage;
  clock: Clock;
  /** `gateway.addr`. */
  address(): { host: string; port: number };
}): Keys {
  const { db } = storage;
  const insert = db.prepare(
    'INSERT INTO virtual_key (hash, session_id, task_id, budget_tokens, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const end = db.prepare('UPDATE virtual_key SET revoked_at = ? WHERE session_id = ? AND revoked_at IS NULL');
  const find = db.prepare<unknown[], Row>(
    'SELECT session_id, task_id, budget_tokens FROM virtual_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const setLimit = db.prepare('UPDATE virtual_key SET limited_until = ? WHERE hash = ?');
  const last = db.prepare<unknown[], { limited_until: number | null }>(
    'SELECT limited_until FROM virtual_key WHERE session_id = ? ORDER BY id DESC LIMIT 1',
  );

  const revoke = (sessionId: string): void => void end.run(clock.now(), parseId('s', sessionId));

  return {
    route: () => `http://${whereOf(address())}`,
    async url() {
      const { host, port } = address();
      const where = whereOf({ host, port });
      if (!(await listens(host, port)))
        throw new SvcError('gateway_unreachable', `nothing listens at gateway.addr (${where})`, {
          hint: 'let the agent use its own login: agents.auth, or SVC_GATEWAY_BYPASS=1 for one dispatch; svc brings no gateway yet',
        });
      return `http://${where}`;
    },
    issue({ sessionId, taskId, budgetTokens }) {
      revoke(sessionId);
      const key = newKey();
      insert.run(hashOf(key), parseId('s', sessionId), parseId('t', taskId), budgetTokens, clock.now());
      return key;
    },
    revoke,
    verify(key) {
      const row = find.get(hashOf(key));
      return row === undefined
        ? null
        : {
            sessionId: formatId('s', row.session_id),
            taskId: formatId('t', row.task_id),
            budgetTokens: row.budget_tokens,
          };
    },
    limit(key, until) {
      setLimit.run(until, hashOf(key));
    },
    limitedUntil: (sessionId) => last.get(parseId('s', sessionId))?.limited_until ?? null,
  };
}

const whereOf = ({ host, port }: { host: string; port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

const listens = (host: string, port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host, port, timeout: PROBE_MS });
    const say = (isThere: boolean) => (): void => {
      socket.destroy();
      done(isThere);
    };
    socket.once('connect', say(true)).once('error', say(false)).once('timeout', say(false));
  });
