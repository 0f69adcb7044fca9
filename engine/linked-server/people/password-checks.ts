import { networkOf } from '../client-address.ts';
import { type FailureCounter, SIGN_IN_RULE } from './failures.ts';
import { nameKey } from './names.ts';
import type { PasswordStore } from './passwords.ts';

/** Maximum number of passwords waiting for comparison, per network and in total: each takes a good part of a second. */
const MOST_OF_NETWORK = 8;
const MOST = 64;
const BUSY_MS = 2000;

/** The reason why a password was not compared, and the waiting time, ms. */
export interface PasswordRefusal {
  refused: 'too_many_wrong' | 'network_busy' | 'busy';
  waitMs: number;
}

/** The result of a comparison, if the password was compared. */
export type PasswordCheck = { isRight: boolean } | PasswordRefusal;

/** Compares people's passwords, limited by name and network, and by number. */
export interface PasswordChecks {
  /** @param stored null for a missing person or one without a password, which takes as long and is wrong */
  check(
    password: string,
    of: { name: string; stored: string | null },
    address: string,
  ): Promise<PasswordCheck>;
}

export function createPasswordChecks({
  failures,
  passwords,
}: {
  failures: FailureCounter;
  passwords: Pick<PasswordStore, 'matches'>;
}): PasswordChecks {
  const waiting = new Map<string, number>();
  let allWaiting = 0;

  async function compare(password: string, stored: string | null, key: string): Promise<PasswordCheck> {
    const waitMs = await failures.begin(key, SIGN_IN_RULE);
    if (waitMs > 0) return { refused: 'too_many_wrong', waitMs };
    const isRight = await passwords.matches(password, stored);
    if (isRight) await failures.forgive(key);
    return { isRight };
  }

  return {
    async check(password, { name, stored }, address) {
      const network = networkOf(address);
      const ofNetwork = waiting.get(network) ?? 0;
      if (ofNetwork >= MOST_OF_NETWORK) return { refused: 'network_busy', waitMs: BUSY_MS };
      if (allWaiting >= MOST) return { refused: 'busy', waitMs: BUSY_MS };
      waiting.set(network, ofNetwork + 1);
      allWaiting += 1;
      try {
        return await compare(password, stored, `sign-in ${nameKey(name)} ${network}`);
      } finally {
        allWaiting -= 1;
        const left = (waiting.get(network) ?? 1) - 1;
        if (left === 0) waiting.delete(network);
        else waiting.set(network, left);
      }
    },
  };
}
