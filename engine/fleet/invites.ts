import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/base/clock.ts';
import type { Storage } from '../storage/index.ts';

/** An invitation to join a fleet, valid once and for an hour. */
export interface Invite {
  /** 16 hexadecimal digits. */
  id: string;
  /** Opens the broker for the one request. */
  password: string;
  /** Proves both ends to each other. */
  secret: string;
  pool: string;
  /** Null for the name of the machine's host. */
  name: string | null;
  /** The most workers at a time. */
  most: number;
}

const VALID_MS = 3_600_000;
/** How long the broker knows a spent one, which waits for its answer there, ms. */
const SPENT_MS = 30_000;

/** The open invitations. Methods that change them are called inside `storage.write`. */
export interface Invites {
  add(invite: Pick<Invite, 'pool' | 'name' | 'most'>): Invite;
  /** Finds a valid one; null for any other. */
  find(id: string): Invite | null;
  /** Finds the secret of a valid one, or of one that was spent just now; null for any other. */
  findSecret(id: string): string | null;
  spend(id: string): void;
  /** Lists those that the broker has to know. */
  list(): Pick<Invite, 'id' | 'password'>[];
}

const makeSecret = (): string => randomBytes(24).toString('base64url');

export function createInvites({ db }: Pick<Storage, 'db'>, clock: Clock): Invites {
  const insert = db.prepare(
    `INSERT INTO fleet_invite (id, password, secret, pool, name, most, expires_at)
     VALUES (@id, @password, @secret, @pool, @name, @most, @expiresAt)`,
  );
  const one = db.prepare<unknown[], Invite>(
    'SELECT id, password, secret, pool, name, most FROM fleet_invite WHERE id = ? AND expires_at > ?',
  );
  const all = db.prepare<unknown[], Pick<Invite, 'id' | 'password'>>(
    'SELECT id, password FROM fleet_invite WHERE expires_at > ?',
  );
  const remove = db.prepare('DELETE FROM fleet_invite WHERE id = ? OR expires_at <= ?');
  const spent = new Map<string, Invite>();

  return {
    add(invite) {
      const made = {
        id: randomBytes(8).toString('hex'),
        password: makeSecret(),
        secret: makeSecret(),
        ...invite,
      };
      insert.run({ ...made, expiresAt: clock.now() + VALID_MS });
      return made;
    },
    find: (id) => one.get(id, clock.now()) ?? null,
    findSecret: (id) => (one.get(id, clock.now()) ?? spent.get(id))?.secret ?? null,
    spend(id) {
      const found = one.get(id, clock.now());
      remove.run(id, clock.now());
      if (found === undefined) return;
      spent.set(id, found);
      setTimeout(() => spent.delete(id), SPENT_MS).unref();
    },
    list: () => [
      ...all.all(clock.now()),
      ...[...spent.values()].map(({ id, password }) => ({ id, password })),
    ],
  };
}
