// docs/server-api.md from the schemas that both sides of the link read with.
import { z } from 'zod';
import * as protocol from '../dist/engine/core/link-protocol/messages.js';
import * as telemetry from '../dist/engine/core/link-protocol/telemetry-day.js';

const code = (text) => `\`${text}\``;

/** What a value may be, in a few words. */
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
      'PUT /v1/usage/DAY',
      `What was done on a UTC day, such as \`2026-11-22\`: it takes the place of what was told of that day before. One of the last ${telemetry.KEPT_TELEMETRY_DAYS}
days, tomorrow by the server's clock at the latest. [telemetry.md](telemetry.md) says what is asked, [telemetry.schema.json](telemetry.schema.json) as a JSON Schema.
Answered:`,
      protocol.timeAnswer,
    ),
    section('DELETE /v1/usage', 'Deletes what this workspace has told of its days. Answered with 204.'),
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

const TELEMETRY_TEXT = `A workspace that is linked to a server counts what happens in it by the day (UTC), and sends each day once it is over. It sends
numbers under the words below and nothing else: the schema that both sides check has room for no other text, so that no name that anybody
has given to an agent, a model, a project, a branch or an error can be in it. Whatever is in no list is counted as \`other\`.`;

const TELEMETRY_RULES = `## When it goes

- Only while the workspace is linked, and only to that server. A workspace without a link counts nothing and sends nothing.
- Not before a person has seen it: \`svc link\` says so and \`svc telemetry show\` prints it. A later version of svc that counts more has a higher
  \`schema\`, and sends nothing until somebody has looked at \`svc telemetry show\` in a terminal, or said \`svc telemetry on\`.
- \`telemetry.work\` in svc.yaml: \`auto\` (also when it is unset) and \`on\` send while the workspace is linked; \`off\` counts nothing and drops what was not
  sent. \`svc telemetry on\` and \`svc telemetry off\` set it. \`DO_NOT_TRACK=1\` in the environment in which the engine is started is \`off\`,
  whatever svc.yaml says, and a command in whose environment it stands agrees to nothing.
- Counting begins with the link: nothing of what happened before it is counted.
- Once a day, from an hour after the day's end (UTC) on. A day on which nothing was counted is not sent. A day that has changed since, as when a clock was set
  back, is sent again and takes the place of what was told. A server that refuses a day gets it again a day later. What could not be sent for 30
  days is given up.

\`svc telemetry show\` prints the very bytes that go next, and those that went in the last 30 days. \`svc telemetry delete\` deletes what the
server has of this workspace; an admin of the account deletes that of all its workspaces on the page \`/app/usage\`, which shows it to the
account. The server keeps a day for ${telemetry.KEPT_TELEMETRY_DAYS} days; its operator sees sums over all accounts.`;

const TELEMETRY_COUNTS = `## How it is counted

- A task counts on the day on which it was created, a decision on the day on which it was made, a run and its duration on the day on which its session ended.
- The preset is the agent's name where that is one of svc's own; an agent under any other name is \`other\`, whatever program it runs.
- \`sealed\` and the codes of failures are those of [errors.md](errors.md#sessions-that-failed); any other code is \`other\`.
- \`account\`: tokens that agents told of runs with a login of their own; runs whose agent says nothing add none. The other words of \`tokens\` are the tiers of
  \`ai.providers\`, of all calls through the gateway that a provider has worked on, those of people too.
- Version, Node.js and system are those at the time of sending.`;

/** What a workspace counts, field by field; `table` makes one of a head and rows. */
export const describeTelemetry = (table) =>
  [
    '# Telemetry',
    TELEMETRY_TEXT,
    `\`PUT /v1/usage/DAY\` ([server-api.md](server-api.md)) has this body; [telemetry.schema.json](telemetry.schema.json) is the same as a JSON Schema:`,
    fieldsOf(telemetry.telemetryDay, table),
    TELEMETRY_COUNTS,
    TELEMETRY_RULES,
  ].join('\n\n');

/** The same as a JSON Schema. */
export const buildTelemetrySchema = () =>
  `${JSON.stringify({ title: 'svc telemetry of a day', ...z.toJSONSchema(telemetry.telemetryDay, { io: 'output' }) }, null, 2)}\n`;
