import { styleText } from 'node:util';
import { clean } from './text.ts';
import { type Format, type Line, THEME } from './theme.ts';

/**
 * Lines as one text for the terminal. This is the last gate: whatever a pane forgot to clean cannot get past it, so
 * nothing from outside ever moves the cursor or sets a colour.
 */
export function paint(lines: readonly Line[], { colours }: { colours: boolean }): string {
  return lines
    .map((line) =>
      line
        .map(({ text, style = 'plain' }) => {
          const shown = clean(text);
          const format: Format = [...THEME[style]];
          if (!colours || shown === '' || format.length === 0) return shown;
          return styleText(format, shown, { validateStream: false });
        })
        .join(''),
    )
    .join('\n');
}
