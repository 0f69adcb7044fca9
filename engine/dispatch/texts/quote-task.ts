import type { TextContributor } from './texts.ts';

/** Quotes the task in the brief, by its id and title and verbatim. */
export const quoteTask = (): TextContributor[] => [
  {
    name: 'title',
    text: 'brief',
    section: 'title',
    write: ({ task }) => [`# ${task.taskId}: ${task.title}`],
  },
  { name: 'task', text: 'brief', section: 'task', write: ({ task }) => [task.prompt.trimEnd()] },
];
