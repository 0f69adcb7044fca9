import { formatLocalTime } from '../../../engine/core/base/text.ts';
import type { TelemetryView, WireValue } from '../../../engine/index.ts';
import { agreeToTelemetry, findTerminalRefusal } from '../../agree-to-telemetry.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatFacts } from '../../print.ts';

type View = WireValue<TelemetryView>;

const describeDay = ({ day, is_finished, refused_why }: View['next'][number], isGoing: boolean): string => {
  if (refused_why !== null) return `${day}, refused by the server: ${refused_why}`;
  if (is_finished) return day;
  return isGoing ? `${day}, once it is over (UTC)` : `${day} (UTC), so far`;
};

/** Explains whether figures are sent, and which setting decides that. */
const describeWork = ({ work, obstacle }: Pick<View, 'work' | 'obstacle'>): string =>
  obstacle === null
    ? `each day is sent once it is over (telemetry.work is ${work})`
    : `nothing is sent: ${obstacle}`;

function formatView(view: View): string {
  const { obstacle, is_waiting, schema, next, sent } = view;
  const isGoing = obstacle === null || is_waiting;
  const days = (title: string, listed: readonly (readonly [string, string])[]): string[] =>
    listed.flatMap(([about, body]) => [`${title} ${about}`, body]);
  return [
    formatFacts([
      ['telemetry', describeWork(view)],
      ['schema', `${schema}, described in docs/team/telemetry.md`],
    ]),
    ...days(
      isGoing ? 'sent next:' : 'would be sent:',
      next.map((day) => [describeDay(day, isGoing), day.body] as const),
    ),
    ...(next.length === 0 ? ['sent next: nothing, since nothing was counted yet'] : []),
    ...days(
      'went:',
      sent.map(({ day, sent_at, body }) => [`${day}, at ${formatLocalTime(sent_at)}`, body] as const),
    ),
  ].join('\n');
}

const show = defineCommand({
  name: 'telemetry show',
  about:
    'print the figures for the linked server: the exact bytes that are sent next, and what was sent in the last 30 days',
  examples: ['telemetry show', 'telemetry show --json'],
  async run(context) {
    const client = await context.engine();
    const view = await client.call('telemetry.show', {});
    context.result(view, formatView);
    // Under --json no person has seen anything.
    if (context.json || !context.stdout.isTTY || view.seen_schema >= view.schema) return 0;
    const hasAgreed = await agreeToTelemetry(context, client, view.schema);
    if (hasAgreed && view.is_waiting)
      context.note(
        'note: now that you have seen it, it is sent while the workspace is linked; svc telemetry off stops that',
      );
    return 0;
  },
});

/** Sets `telemetry.work` as `svc config set` does. */
async function setWork(context: CommandContext, value: 'on' | 'off'): Promise<void> {
  const client = await context.engine();
  const { consent } = await client.call('config.set', { key: 'telemetry.work', value });
  const { schema } = await client.call('telemetry.show', {});
  if (value === 'on' && !(await agreeToTelemetry(context, client, schema)))
    context.note(`note: ${findTerminalRefusal(context)}, so nothing was agreed to`);
  const view = await client.call('telemetry.show', {});
  context.result(view, (it) =>
    value === 'off'
      ? 'telemetry is off: nothing is counted, and nothing more is sent'
      : `${describeWork(it)}; svc telemetry show prints it`,
  );
  if (consent.pending.length > 0)
    context.note(`note: not in use until svc trust: ${consent.pending.map(({ key }) => key).join(', ')}`);
}

const on = defineCommand({
  name: 'telemetry on',
  about: 'send daily figures to the linked server, and agree to their current contents',
  examples: ['telemetry on'],
  async run(context) {
    await setWork(context, 'on');
    return 0;
  },
});

const off = defineCommand({
  name: 'telemetry off',
  about: 'stop counting for a linked server, and drop unsent figures',
  examples: ['telemetry off'],
  async run(context) {
    await setWork(context, 'off');
    return 0;
  },
});

const remove = defineCommand({
  name: 'telemetry delete',
  about: 'delete the figures of this workspace on the linked server; svc telemetry off stops new ones',
  examples: ['telemetry delete'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('telemetry.delete', {});
    context.result(done, () => 'the linked server no longer has figures of this workspace');
    return 0;
  },
});

export const telemetryCommands: readonly Command[] = [show, on, off, remove];
