import type { AgentNotify } from '../notify-entry.ts';

const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** How a message reaches a running agent, also one without an entry. */
export const TO_FILE: AgentNotify = {
  mode: 'file',
  path: '.svc/notices/{{to_session}}.md',
  body: `## Message {{msg_id}} ({{kind}})

- from: {{from_agent}} ({{from_session}})
- to: {{to_agent}} ({{to_session}})

{{body}}

`,
};

// A value in a JSON body is escaped as JSON text; the delivery does that by the content type.
export const TO_OPENCODE: AgentNotify = {
  mode: 'http',
  steps: [
    {
      method: 'POST',
      url: '{{notify_base}}/tui/append-prompt',
      headers: JSON_HEADERS,
      body: '{"text":"[{{kind}} {{msg_id}} from {{from_agent}} {{from_session}}] {{body}}"}',
    },
    { method: 'POST', url: '{{notify_base}}/tui/submit-prompt', headers: JSON_HEADERS, body: '{}' },
  ],
};
