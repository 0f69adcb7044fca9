import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { SvcError } from '../../core/base/errors.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';

const scryptAsync = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  bytes: number,
  cost: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>;

/** The parameters of scrypt (RFC 7914), its N as a power of two. */
export interface PasswordCost {
  logN: number;
  r: number;
  p: number;
}

/** 64 MiB and some 150 ms for each: as the OWASP cheat sheet on password storage recommends for scrypt. */
const COST: PasswordCost = { logN: 16, r: 8, p: 2 };
const BYTES = 32;
const SHORTEST = 10;
const LONGEST = 200;

// Two concurrently: each takes 64 MiB, and a guesser must not fill the memory.
const lanes = [createSerialQueue(), createSerialQueue()];
let next = 0;

function hashPassword(password: string, salt: Buffer, { logN, r, p }: PasswordCost): Promise<Buffer> {
  const lane = lanes[next % lanes.length]!;
  next += 1;
  const N = 2 ** logN;
  // NFKC, so that an é from any keyboard is the same.
  return lane(() => scryptAsync(password.normalize('NFKC'), salt, BYTES, { N, r, p, maxmem: 256 * N * r }));
}

/** Throws `fields_invalid` for an unacceptable password. */
function checkPassword(password: string): void {
  const { length } = [...password];
  if (length < SHORTEST || length > LONGEST)
    throw new SvcError('fields_invalid', `a password has ${SHORTEST} to ${LONGEST} characters`, {
      data: { fields: ['password'] },
    });
}

/** Stores passwords so that the database does not reveal them. */
export interface PasswordStore {
  /** Returns the stored form of one: `scrypt$16$8$2$salt$hash`. Throws `fields_invalid`. */
  store(password: string): Promise<string>;
  /** Reports whether a password is the stored one; with null, for a missing person, it takes as long and is false. */
  matches(password: string, stored: string | null): Promise<boolean>;
}

/** @param cost of new ones; stored ones keep theirs */
export function createPasswords(cost: PasswordCost = COST): PasswordStore {
  const format = (salt: string, hash: string): string =>
    ['scrypt', cost.logN, cost.r, cost.p, salt, hash].join('$');
  const nobody = format('A'.repeat(22), 'A'.repeat(43));
  return {
    async store(password) {
      checkPassword(password);
      const salt = randomBytes(16);
      const hash = await hashPassword(password, salt, cost);
      return format(salt.toString('base64url'), hash.toString('base64url'));
    },
    async matches(password, stored) {
      const [, logN, r, p, salt, hash] = (stored ?? nobody).split('$');
      const found = await hashPassword(password.slice(0, LONGEST * 4), Buffer.from(salt ?? '', 'base64url'), {
        logN: Number(logN),
        r: Number(r),
        p: Number(p),
      });
      const kept = Buffer.from(hash ?? '', 'base64url');
      return stored !== null && kept.length === found.length && timingSafeEqual(kept, found);
    },
  };
}
