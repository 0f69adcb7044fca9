/** Names the author of a task, with the role that the code host reports: `codehost:ada (member)`; null for none. */
export const describeAuthor = (task: { author: string | null; author_role: string | null }): string | null =>
  task.author === null || task.author_role === null
    ? task.author
    : `${task.author} (${task.author_role.replaceAll('_', ' ')})`;

/** Names a schedule, as the source of its tasks. */
export const nameSchedule = (id: number): string => `schedule ${id}`;

/** Names the schedule that created a task; null for any other task. */
export const findScheduleName = (task: { source: string; source_ref: string | null }): string | null =>
  (task.source === 'cli' || task.source === 'tui' || task.source === 'tool') &&
  /^schedule \d+$/.test(task.source_ref ?? '')
    ? task.source_ref
    : null;

/** Writes where a task comes from: `codehost (acme/shop#12) by codehost:ada (member)`. Lists know no author. */
export function describeTaskSource({
  source,
  source_ref: reference,
  author = null,
  author_role: role = null,
}: {
  source: string;
  source_ref: string | null;
  author?: string | null;
  author_role?: string | null;
}): string {
  const from = reference === null ? source : `${source} (${reference})`;
  const by = describeAuthor({ author, author_role: role });
  return by === null ? from : `${from} by ${by}`;
}
