import { toPrintable } from '../../../engine/core/base/text.ts';
import { type Command, defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import { formatRows } from '../../print.ts';

const show = defineCommand({
  name: 'guidance show',
  about: 'show the rules that agents are reminded of, in the language of workspace.locale',
  flags: {
    seat: { type: 'string', value: 'chair|worker|plain', about: 'only the rules of one seat' },
    ...outputFlags,
  },
  examples: ['guidance show', 'guidance show --seat worker'],
  async run(context) {
    const client = await context.engine();
    const { seat } = context.flags;
    const shown = await client.call(
      'guidance.show',
      // The engine lists the seats.
      (seat === undefined ? {} : { seat }) as { seat?: 'chair' },
    );
    const rows = shown.seats.flatMap(({ seat: name, rules }) => rules.map((rule) => ({ name, ...rule })));
    const text = await formatRows(
      rows,
      [
        { head: 'seat', value: ({ name }) => name },
        { head: 'key', value: ({ key }) => key },
        { head: 'on', value: ({ is_on }) => (is_on ? 'on' : 'off') },
        { head: 'text', value: (rule) => rule.text, flexible: true },
      ],
      context.stdout,
      context.paint,
    );
    context.result(shown, () => text);
    if (shown.is_fallback)
      context.note(
        `workspace.locale is ${toPrintable(shown.locale)}: there are no texts in that language, so they are English`,
      );
  },
});

export const guidanceCommands: readonly Command[] = [show];
