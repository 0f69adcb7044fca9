import { resolve } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import type { Ledger, WireValue } from '../../../engine/index.ts';
import { holderFlag, readHolder } from '../../arguments/holder.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import { formatRows } from '../../print.ts';

type Shown = WireValue<Ledger>;

const formatClarify = ({ clarify }: Shown): string => {
  if (!clarify.present) return 'no section Clarify: tasks can run';
  return clarify.open === 0
    ? 'section Clarify: all settled'
    : `section Clarify: ${clarify.open} open; tasks with this ledger wait`;
};

const fileArg = { name: 'file', about: 'Markdown file', completes: 'file' } as const;
const itemArg = {
  name: 'item',
  about: 'number of the item, from 1, as svc ledger show prints it',
} as const;

/** Reads the file and the item from the arguments. */
function readItem({ cwd, args }: Pick<CommandContext, 'cwd' | 'args'>): { ledger: string; item: number } {
  const [file = '', given = ''] = args;
  const item = Number(given);
  if (Number.isSafeInteger(item) && item > 0) return { ledger: resolve(cwd, file), item };
  throw new SvcError('usage', `item must be a number, not ${JSON.stringify(given)}`, {
    hint: `svc ledger show ${file} numbers them`,
  });
}

const show = defineCommand({
  name: 'ledger show',
  about: 'show the checklist of a ledger, with who works on what',
  args: [fileArg],
  flags: outputFlags,
  examples: ['ledger show docs/plan.md'],
  async run(context) {
    const client = await context.engine();
    const file = resolve(context.cwd, context.args[0] ?? '');
    const shown = await client.call('ledger.show', { ledger: file });
    const text = await formatRows(
      shown.items,
      [
        { head: 'item', value: (each) => each.item, right: true },
        {
          head: 'done',
          value: (each) => (each.checked ? 'x' : '-'),
          style: (each) => (each.checked ? 'good' : undefined),
        },
        { head: 'holder', value: (each) => each.holder },
        { head: 'until', value: (each) => each.expires_at && formatLocalTime(each.expires_at) },
        {
          head: 'text',
          value: (each) =>
            each.claimed_text_differs ? `${each.text} (text changed after the claim)` : each.text,
          flexible: true,
        },
      ],
      context.stdout,
      context.paint,
    );
    context.result(shown, () => text);
    if (shown.items.length === 0)
      context.note(`${toPrintable(shown.ledger)} has no items: no line with - [ ] or - [x]`);
    context.note(formatClarify(shown));
  },
});

const claim = defineCommand({
  name: 'ledger claim',
  about: 'claim an item before you work on it; repeat to extend',
  args: [fileArg, itemArg],
  flags: {
    ...holderFlag,
    ttl: { type: 'number', value: 'minutes', about: 'how long the claim is valid (60)' },
  },
  examples: ['ledger claim docs/plan.md 3'],
  async run(context) {
    const { ttl } = context.flags;
    const client = await context.engine();
    const claimed = await client.call('task.claim', {
      holder: readHolder(context),
      ...readItem(context),
      ttl_min: ttl,
    });
    context.result(
      claimed,
      ({ holder, item, text, expires_at }) =>
        `${holder} has item ${item} until ${formatLocalTime(expires_at)}: ${toPrintable(text)}`,
    );
  },
});

const release = defineCommand({
  name: 'ledger release',
  about: 'release a claim; check a finished item off in the file first',
  args: [fileArg, itemArg],
  flags: holderFlag,
  examples: ['ledger release docs/plan.md 3'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('task.release', {
      holder: readHolder(context),
      ...readItem(context),
    });
    context.result(
      done,
      ({ ledger, item, text }) => `item ${item} of ${toPrintable(ledger)} is free: ${toPrintable(text)}`,
    );
  },
});

/** `svc ledger …`: checklists and their claims. */
export const ledgerCommands: readonly Command[] = [show, claim, release];
