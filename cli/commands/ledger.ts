import { resolve } from 'node:path';
import { type Ledger, localTime, printable, type Wire } from '../../engine/index.ts';
import { type Command, command } from '../command.ts';
import { table } from '../print.ts';

type Shown = Wire<Ledger>;

const clarifyText = ({ clarify }: Shown): string => {
  if (!clarify.present) return 'no section Clarify: nothing holds a task back';
  return clarify.open === 0
    ? 'section Clarify: all settled'
    : `section Clarify: ${clarify.open} open; tasks with this ledger wait`;
};

/** `svc ledger show`: a checklist and who works on it. */
export const ledgerCommand: Command = command({
  name: 'ledger show',
  about: 'show the checklist of a ledger, with who works on what',
  args: [{ name: 'file', about: 'Markdown file', completes: 'file' }],
  examples: ['ledger show docs/plan.md'],
  async run(context) {
    const client = await context.engine();
    const file = resolve(context.cwd, context.args[0] ?? '');
    const shown = await client.call<Shown>('ledger.show', { ledger: file });
    const text = await table(
      shown.items,
      [
        { head: 'item', value: (each) => each.item, right: true },
        { head: 'done', value: (each) => (each.checked ? 'x' : '-') },
        { head: 'holder', value: (each) => each.holder },
        { head: 'until', value: (each) => each.expires_at && localTime(each.expires_at) },
        {
          head: 'text',
          value: (each) =>
            each.claimed_text_differs ? `${each.text} (claimed when it said something else)` : each.text,
          flexible: true,
        },
      ],
      context.stdout,
    );
    context.result(shown, () => text);
    if (shown.items.length === 0) context.note(`${printable(shown.ledger)} has no - [ ] items`);
    context.note(clarifyText(shown));
  },
});
