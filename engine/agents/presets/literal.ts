/** A text that begins with a slash is a command of the program and no prompt. */
export const withoutCommand = (prompt: string): string =>
  /^\s*\//.test(prompt) ? `Your task:\n\n${prompt}` : prompt;

/** The same, for a program that also puts in the file that an `@` names; a backslash before it keeps it a sign. */
export const withoutCommandOrFile = (prompt: string): string =>
  withoutCommand(prompt).replace(/(?<!\\)@(?=\S)/g, '\\@');
