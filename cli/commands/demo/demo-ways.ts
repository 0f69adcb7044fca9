import { createHmac, randomUUID } from 'node:crypto';
import type { CaughtEvent } from './catch-server.ts';
import type { DemoVisitor } from './demo-visitor.ts';
import { findIn, waitFor } from './demo-wait.ts';

/** The means of deciding from outside. */
export interface DemoAccess {
  /** The id of the workspace on the server. */
  workspace: string;
  /** The person who set the server up. */
  ann: DemoVisitor;
  /** The secret of the catch URL. */
  secret: string;
  say(line: string): void;
}

/** One way to approve a pending decision from outside. */
export interface DemoWay {
  title: string;
  /** Resolves when it is answered, and prints how. */
  approve(outside: DemoAccess, event: CaughtEvent): Promise<void>;
}

export const byPage: DemoWay = {
  title: 'ann approves on the web, as from a phone',
  async approve({ ann, workspace, say }, event) {
    const place = `/app/decisions/${workspace}/${event.decision_id}`;
    const page = await waitFor(async () => {
      const { status, html } = await ann.open(place);
      return status === 200 ? html : null;
    }, 'the decision on its page');
    const hash = findIn(page, /name="hash" value="([0-9a-f]{64})"/);
    const after = await ann.send(`${place}/approve`, { hash });
    say(`   answer   ${findIn(after.html, /role="(?:status|alert)">([^<]+)</)}`);
  },
};

export const bySignedRequest: DemoWay = {
  title: 'n8n approves by a signed request',
  async approve({ secret, say }, { decision_id, decision_url }) {
    const said = await waitFor(async () => {
      const body = JSON.stringify({ decision_id, nonce: randomUUID() });
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
      const answer = await fetch(`${decision_url}/approve`, {
        method: 'POST',
        headers: { 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature },
        body,
      });
      const { state, session_id } = (await answer.json()) as Record<string, string | null>;
      // The event may arrive before the decision is in the list.
      return answer.status === 404 ? null : `${answer.status}: ${state}, session ${session_id}`;
    }, 'the decision on the server');
    say(`   answer   ${said}`);
  },
};
