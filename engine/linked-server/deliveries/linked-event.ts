import type { EventEnvelope } from '../../notify/sending/index.ts';

/** Builds an event from a workspace: the envelope of docs/automate/events.md, with this server's addresses. */
export interface LinkedEvent extends EventEnvelope {
  workspace_id: string;
  /** The page of the named decision; null if it names none. */
  decision_url: string | null;
}
