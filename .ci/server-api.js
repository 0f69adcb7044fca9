// Generates docs/reference/server-api.md from the schemas that both sides of the link use.
import { z } from 'zod';
import * as protocol from '../dist/engine/core/link-protocol/messages.js';
import * as telemetry from '../dist/engine/core/link-protocol/telemetry-day.js';

const code = (text) => `\`${text}\``;

/** Returns the allowed values in a few words. */
function describeType(schema) {
  if (schema.anyOf) {
    const rest = schema.anyOf.filter((each) => each.type !== 'null');
    return `${rest.map(describeType).join(' or ')}, or null`;
  }
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.type === 'array') return `at most ${schema.maxItems} of: ${describeType(schema.items)}`;
  if (schema.type === 'object') {
    if (schema.propertyNames === undefined) return 'object, see below';
    const { additionalProperties: inside } = schema;
    const what = inside.type === 'object' ? `objects of numbers by ${listWords(inside)}` : 'numbers';
    return `${what} by ${listWords(schema)}`;
  }
  if (schema.const !== undefined) return code(schema.const);
  if (schema.format === 'date-time') return 'time';
  if (schema.format === 'date') return 'date';
  if (schema.type === 'string') {
    if (schema.pattern) return `string, ${code(schema.pattern)}`;
    return schema.maxLength ? `string, at most ${schema.maxLength}` : 'string';
  }
  return schema.type;
}

const listWords = ({ propertyNames }) => propertyNames.enum.map(code).join(', ');

/** Returns the description of a field; for a nullable field, the description of its value. */
const describeField = (schema) =>
  schema.description ?? schema.anyOf?.find((each) => each.description)?.description ?? '';

function fieldsOf(schema, table) {
  const { properties } = z.toJSONSchema(schema, { io: 'output' });
  return table(
    ['field', 'type', 'meaning'],
    Object.entries(properties).map(([name, field]) => [
      code(name),
      describeType(field),
      describeField(field),
    ]),
  );
}

/** Returns the page; `table` formats a head and rows. */
export function describeServerApi(table) {
  const { LINK_PROTOCOL, MOST_EVENTS, LARGEST_EVENTS_BYTES, LARGEST_DECISIONS_BYTES, LONGEST_POLL_S } =
    protocol;
  const section = (title, text, ...parts) =>
    [
      `## ${title}`,
      text,
      ...parts.map((part) => (typeof part === 'string' ? part : fieldsOf(part, table))),
    ].join('\n\n');
  return [
    `Every request has \`Svc-Protocol: ${LINK_PROTOCOL}\` and \`Authorization: Bearer\` with a token: of the machine (\`svcm_…\`) for
\`POST /v1/workspaces\`, of the workspace (\`svcw_…\`) for all others. Bodies are JSON; errors are problem details (RFC 9457) with a
\`code\` of [errors.md](errors.md): 401 \`token_invalid\`, \`revoked\`; 409 \`displaced\`; 413 \`body_too_large\`; 422 \`fields_invalid\`; 426
\`protocol_mismatch\`, which names the side to update; 429 \`limit_reached\` with \`Retry-After\` (50 requests a second for each token).`,
    section(
      'POST /v1/workspaces',
      'Links a workspace. Request:',
      protocol.linkRequest,
      'Answer:',
      protocol.linkAnswer,
    ),
    section(
      'POST /v1/workspace/token',
      'A new token; the old one is valid until the new one was used. Answer:',
      protocol.tokenAnswer,
    ),
    section('DELETE /v1/workspace', 'Unlinks. Answered with 204.'),
    section(
      'POST /v1/events',
      `At most ${MOST_EVENTS} events and ${LARGEST_EVENTS_BYTES / 1024} KB. An event whose id is known is dropped. Request:`,
      protocol.eventsRequest,
      'Each event:',
      protocol.linkEvent,
      'Answer:',
      protocol.eventsAnswer,
    ),
    section(
      'PUT /v1/decisions',
      `The whole list of pending decisions, after each change; it replaces the earlier one. At most ${LARGEST_DECISIONS_BYTES / 1024 / 1024} MB. Request:`,
      protocol.decisionsRequest,
      'Each decision:',
      protocol.pendingDecision,
      'Answer:',
      protocol.timeAnswer,
    ),
    section(
      'PUT /v1/usage/DAY',
      `The counts of a UTC day, such as \`2026-11-22\`, replacing earlier ones. One of the last ${telemetry.KEPT_TELEMETRY_DAYS}
days, tomorrow by the server's clock at the latest. [Telemetry](../team/telemetry.md) describes the body, [telemetry.schema.json](telemetry.schema.json) is its schema.
Answer:`,
      protocol.timeAnswer,
    ),
    section('DELETE /v1/usage', 'Deletes the counts of this workspace. Answered with 204.'),
    section(
      'GET /v1/commands?after=N&wait=S&instance=I',
      `Commands after that number without an outcome. Without any, the answer waits up to S seconds, ${LONGEST_POLL_S} at most. \`instance\` names the
engine: another one with the same token ends this poll with 409 \`displaced\`. Answer:`,
      protocol.commandsAnswer,
      'Each command:',
      protocol.linkCommand,
    ),
    section(
      'POST /v1/commands/ID',
      'The outcome of a command; the first one is kept, and the server answers 204. Request:',
      protocol.commandOutcome,
      'The outcomes:',
      table(
        ['outcome', 'meaning'],
        Object.entries(protocol.OUTCOMES).map(([word, meaning]) => [code(word), meaning]),
      ),
    ),
  ].join('\n\n');
}

/** Tabulates the counts of a workspace; `table` formats a head and rows. */
export const telemetryTable = (table) => fieldsOf(telemetry.telemetryDay, table);

/** The same as a JSON Schema. */
export const buildTelemetrySchema = () =>
  `${JSON.stringify({ title: 'svc telemetry of a day', ...z.toJSONSchema(telemetry.telemetryDay, { io: 'output' }) }, null, 2)}\n`;
