// docs/server-api.md from the schemas that both sides of the link read with.
import { z } from 'zod';
import * as protocol from '../dist/engine/http/link-protocol.js';

const code = (text) => `\`${text}\``;

/** What a value may be, in a few words. */
function describeType(schema) {
  if (schema.anyOf) {
    const rest = schema.anyOf.filter((each) => each.type !== 'null');
    return `${rest.map(describeType).join(' or ')}, or null`;
  }
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.type === 'array') return `at most ${schema.maxItems} of: ${describeType(schema.items)}`;
  if (schema.type === 'object') return 'object, see below';
  if (schema.format === 'date-time') return 'time';
  if (schema.type === 'string') {
    if (schema.pattern) return `string, ${code(schema.pattern)}`;
    return schema.maxLength ? `string, at most ${schema.maxLength}` : 'string';
  }
  return schema.type;
}

/** What is said of a field; of one that may be null, that of the value. */
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

/** The page; `table` makes one of a head and rows. */
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
    '# What goes between a workspace and a linked server',
    `Everything that a workspace sends to a linked server, and everything that it is sent; [server.md](server.md) says how it is used and
[link-security.md](link-security.md) what follows from it. The schemas are strict: a field that is not named here is 422, and nothing of
the call is kept. The workspace reads at most ${protocol.LARGEST_ANSWER_BYTES / 1024} KB of an answer.`,
    `Every request has \`Svc-Protocol: ${LINK_PROTOCOL}\` and \`Authorization: Bearer\` with a token: of the machine (\`svcm_…\`) for
\`POST /v1/workspaces\`, of the workspace (\`svcw_…\`) for all others. Bodies are JSON; errors are problem details (RFC 9457) with a
\`code\` of [errors.md](errors.md): 401 \`token_invalid\`, \`revoked\`; 409 \`displaced\`; 413 \`body_too_large\`; 422 \`fields_invalid\`; 426
\`protocol_mismatch\`, which says which side is to be updated; 429 \`limit_reached\` with \`Retry-After\` (50 requests a second for each token).`,
    section(
      'POST /v1/workspaces',
      'Links a workspace. Asked:',
      protocol.linkRequest,
      'Answered:',
      protocol.linkAnswer,
    ),
    section(
      'POST /v1/workspace/token',
      'A new token; the old one opens until the new one was used. Answered:',
      protocol.tokenAnswer,
    ),
    section('DELETE /v1/workspace', 'Unlinks. Answered with 204.'),
    section(
      'POST /v1/events',
      `At most ${MOST_EVENTS} events and ${LARGEST_EVENTS_BYTES / 1024} KB. An event whose id is known is dropped. Asked:`,
      protocol.eventsRequest,
      'Each event:',
      protocol.linkEvent,
      'Answered:',
      protocol.eventsAnswer,
    ),
    section(
      'PUT /v1/decisions',
      `The whole list of what waits, whenever it has changed: it takes the place of the one before. At most ${LARGEST_DECISIONS_BYTES / 1024 / 1024} MB. Asked:`,
      protocol.decisionsRequest,
      'Each decision:',
      protocol.pendingDecision,
      'Answered:',
      protocol.timeAnswer,
    ),
    section(
      'GET /v1/commands?after=N&wait=S&instance=I',
      `Commands after that number that have no outcome. With none the answer waits for up to S seconds, ${LONGEST_POLL_S} at most. \`instance\` names the
engine: another one with the same token ends the poll of this one with 409 \`displaced\`. Answered:`,
      protocol.commandsAnswer,
      'Each command:',
      protocol.linkCommand,
    ),
    section(
      'POST /v1/commands/ID',
      'How a command ended; the first answer counts, and the server answers 204. Asked:',
      protocol.commandOutcome,
      'The outcomes:',
      table(
        ['outcome', 'meaning'],
        Object.entries(protocol.OUTCOMES).map(([word, meaning]) => [code(word), meaning]),
      ),
    ),
  ].join('\n\n');
}
