import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';

/** Formats the address of a project's Chair, independent of its holder: its inbox outlives every Chair session. */
export const chairAddress = (project: string | null): string =>
  project === null ? 'chair' : `chair@${project}`;

/** Reads the project from a Chair's address, whose first word may be in any case; undefined for any other address. */
export function projectOfAddress(address: string): string | null | undefined {
  const [, project] = /^chair(?:@(.*))?$/is.exec(address) ?? [undefined, undefined];
  if (project !== undefined) return project;
  return address.toLowerCase() === 'chair' ? null : undefined;
}

/** Reports whether a caller means its own seat: by `me`, and in the Chair seat by `chair`, in any case (03 §7). */
export function isOwnSeat(name: string, { seat }: Pick<Caller, 'seat'>): boolean {
  const word = name.trim().toLowerCase();
  return word === 'me' || (word === 'chair' && seat === 'chair');
}

/** Maximum number of live sessions named in an error. */
const NAMED = 10;

/** Creates the error for a session id that never existed. @param live ids of the live sessions */
export function unknownSession(name: string, live: readonly string[]): SvcError {
  const more = live.length > NAMED ? ` and ${live.length - NAMED} more` : '';
  const here = live.length === 0 ? 'no session is live' : `live: ${live.slice(0, NAMED).join(', ')}${more}`;
  return new SvcError('not_found', `no session ${JSON.stringify(name)}`, {
    hint: sentence`${here}; me is your own ({msg.peers} lists them)`,
    data: { session: name, live: live.slice(0, NAMED) },
  });
}
