import { styleText } from 'node:util';
import { cleanText, makeDrawable } from './text.ts';
import { type Format, type Line, THEME } from './theme.ts';

export interface PaintOptions {
  colours: boolean;
  /** Nothing stands to the right of these lines, so what terminals draw in different widths is shown as it is. */
  isWhole?: boolean | undefined;
}

/**
 * Lines as one text for the terminal. This is the last gate: whatever a pane forgot to clean cannot get past it, so
 * nothing from outside ever moves the cursor, sets a colour, or takes another place on the screen than we count.
 */
export function paintLines(lines: readonly Line[], { colours, isWhole = false }: PaintOptions): string {
  return lines
    .map((line) =>
      line
        .map(({ text, style = 'plain' }) => {
          const shown = isWhole ? cleanText(text) : makeDrawable(text);
          const format: Format = [...THEME[style]];
          if (!colours || shown === '' || format.length === 0) return shown;
          return styleText(format, shown, { validateStream: false });
        })
        .join(''),
    )
    .join('\n');
}
