import type { Envelope } from '../../notify/sending/index.ts';

/** An event as it came from a workspace: the envelope of docs/automate/events.md, with the addresses that this server has for it. */
export interface LinkedEvent extends Envelope {
  workspace_id: string;
  /** Where the decision that it names is made; null where it names none. */
  decision_url: string | null;
}
