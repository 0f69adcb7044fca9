import type { Caller } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';

/** The address of a project's Chair, whoever has that seat now or later: its inbox outlives every Chair session. */
export const chairAddress = (project: string | null): string =>
  project === null ? 'chair' : `chair@${project}`;

/** The project of a Chair's address, whose first word may be written in any case; undefined when it is none. */
export function projectOfAddress(address: string): string | null | undefined {
  const [, project] = /^chair(?:@(.*))?$/is.exec(address) ?? [undefined, undefined];
  if (project !== undefined) return project;
  return address.toLowerCase() === 'chair' ? null : undefined;
}

/** Whether a caller means its own seat: by `me`, and in the Chair seat by `chair`, in any case (03 §7). */
export function isOwnSeat(name: string, { seat }: Pick<Caller, 'seat'>): boolean {
  const word = name.trim().toLowerCase();
  return word === 'me' || (word === 'chair' && seat === 'chair');
}

/** As many live ones are named in a refusal. */
const NAMED = 10;

/** Nobody has ever been called so. @param live ids of the sessions that are here */
export function unknownSession(name: string, live: readonly string[]): SvcError {
  const more = live.length > NAMED ? ` and ${live.length - NAMED} more` : '';
  const here = live.length === 0 ? 'no session is live' : `live: ${live.slice(0, NAMED).join(', ')}${more}`;
  return new SvcError('not_found', `no session ${JSON.stringify(name)}`, {
    hint: sentence`${here}; me is your own ({msg.peers} lists them)`,
    data: { session: name, live: live.slice(0, NAMED) },
  });
}
