import { createHmac, randomUUID } from 'node:crypto';
import type { CaughtEvent } from './catch-server.ts';
import type { DemoChat } from './demo-chats.ts';
import type { Visitor } from './demo-visitor.ts';
import { findIn, waitFor } from './demo-wait.ts';

/** What somebody outside has for deciding. */
export interface Outside {
  /** Of the workspace on the server. */
  workspace: string;
  /** The person who set the server up. */
  ann: Visitor;
  /** Of the catch URL. */
  secret: string;
  say(line: string): void;
}

/** One way in which somebody outside approves what waits. */
export interface Way {
  title: string;
  /** Resolves when it was answered, and has said how. */
  approve(outside: Outside, event: CaughtEvent): Promise<void>;
}

export const byPage: Way = {
  title: 'ann approves on the page, as from a phone',
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

export const bySignedRequest: Way = {
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
      // The event may be there before the list of what waits.
      return answer.status === 404 ? null : `${answer.status}: ${state}, session ${session_id}`;
    }, 'the decision on the server');
    say(`   answer   ${said}`);
  },
};

export const byChat = (chat: DemoChat): Way => ({
  title: `ann presses Approve in ${chat.name}`,
  async approve({ say }, event) {
    const decision = String(event.decision_id);
    const asked = await waitFor(() => {
      const said = chat.read(decision);
      return said?.buttons.includes('Approve') ? said : null;
    }, `${decision} in ${chat.name}`);
    const lines = [...asked.text.split('\n'), `[${asked.buttons.join('] [')}]`];
    say(`   message  ${lines.join('\n            ')}`);
    say(`   answer   ${await chat.press(decision, 'Approve')}`);
    const after = await waitFor(() => {
      const said = chat.read(decision);
      return said !== null && said.buttons.length === 0 && / has started\./.test(said.text) ? said : null;
    }, `what became of ${decision} in ${chat.name}`);
    say(`   message  ${after.text.split('\n').at(-1)} Its buttons are gone.`);
  },
});
