import type { CallAuthor } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { makeCodeAddress, makeCodeSecret } from './decide-code.ts';
import type { LinkRows } from './rows.ts';

/** Returns a function that creates the secret of one-time codes; see `Link.makeDecideCode`. */
export function createCodeMaker(deps: {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  rows: Pick<LinkRows, 'readCode' | 'putCode'>;
  config(): { workspace: { name: string } };
}) {
  const { storage, events, clock, rows, config } = deps;
  return async (isNew: boolean, by: CallAuthor): Promise<{ address: string }> => {
    const secret = makeCodeSecret();
    await storage.write(() => {
      if (!isNew && rows.readCode() !== null)
        throw new SvcError(
          'exists',
          'one-time codes are already set up, and their secret is shown only once',
          { hint: 'svc link code --new creates a new secret, which invalidates the previous one' },
        );
      rows.putCode(secret, clock.now());
      events.append({ kind: 'link_changed', ...by, data: { codes: 'made' } });
    });
    return { address: makeCodeAddress(secret, config().workspace.name) };
  };
}
