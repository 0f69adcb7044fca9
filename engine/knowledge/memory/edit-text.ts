interface Worded {
  title: string;
  text: string;
}

const writeTitle = (title: string): string => title.replace(/\s*[\n\r]\s*/g, ' ');

/** Writes a memory as a person edits it: its title, an empty line, its text. */
export const writeMemoryText = ({ title, text }: Worded): string => `${writeTitle(title)}\n\n${text}`;

/** Returns only the edited fields, so that a title of several lines stays unchanged. Null for no change. */
export function findMemoryEdits(before: Worded, edited: string): Partial<Worded> | null {
  if (edited.trimEnd() === writeMemoryText(before).trimEnd()) return null;
  const [first = '', ...rest] = edited.replaceAll('\r\n', '\n').split('\n');
  const title = first.trim();
  const text = rest.join('\n').replace(/^\n/, '');
  return {
    ...(title === writeTitle(before.title).trim() ? {} : { title }),
    ...(text === before.text ? {} : { text }),
  };
}
