import { resolve } from 'node:path';

/**
 * Finds the entry of a project in `projects`; undefined for none. The workspace's own project may have one, with its
 * folder.
 * @param project its id; null and its name for the workspace's own
 */
export function findProjectEntry<Entry extends { id: string; path: string }>(
  root: string,
  { projects, project: own }: { projects: readonly Entry[]; project: { name: string; root: string } },
  project: string | null,
): Entry | undefined {
  const isOwn = project === null || project === own.name;
  return projects.find(({ id, path }) =>
    isOwn ? resolve(root, path) === resolve(root, own.root) : id === project,
  );
}
