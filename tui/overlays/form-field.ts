import { padText, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** Renders a field of a form: its name, its value, and a mark if it has the keyboard. */
export const renderFormField = (name: string, value: string, isFocused: boolean): StyledLine => [
  span(`${isFocused ? '▶' : ' '} ${padText(name, 9)}`, isFocused ? 'key' : 'dim'),
  span(value, isFocused ? 'marked' : undefined),
];

/** Renders text from the person's editor, below the field that it belongs to. */
export const renderEditorText = (text: string, cells: number): StyledLine[] =>
  splitCleanLines(text).flatMap((line) =>
    wrapText(line, cells - 4).map((part) => [span('  │ ', 'border'), span(part)]),
  );
