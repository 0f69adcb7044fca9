import type { LoggedEvent } from '../storage/index.ts';
import { projectOfAddress } from '../workers/sessions/index.ts';

/** Reports whether an event is one that a person is notified of without asking for it: a decision or a question for them, or an end. */
export function isForPerson({ kind, data }: Pick<LoggedEvent, 'kind' | 'data'>): boolean {
  // A question to another session is answered there.
  if (kind === 'ask_opened') return projectOfAddress(String(data.to ?? '')) !== undefined;
  return kind === 'needs_approval' || kind === 'sealed' || kind === 'failed';
}
