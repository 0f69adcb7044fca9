import type { Git } from '../git/git.ts';
import { PRUNED_REFS } from './remove-worktree.ts';

/** A commit of a branch that was removed, and the ref that holds it. */
export interface SavedRef {
  ref: string;
  commit: string;
  /** The branch that was removed. */
  branch: string;
}

/** Lists saved commits of removed branches; of one branch, or of all. */
export async function listSavedRefs(git: Git, root: string, branch?: string): Promise<SavedRef[]> {
  const below = branch === undefined ? PRUNED_REFS : `${PRUNED_REFS}${branch}/`;
  const text = await git.text(root, ['for-each-ref', '--format=%(objectname) %(refname)', below]);
  return text.split('\n').flatMap((line) => {
    const [commit = '', ref = ''] = line.split(' ');
    const name = ref.slice(PRUNED_REFS.length);
    return ref === '' ? [] : [{ ref, commit, branch: name.slice(0, name.lastIndexOf('/')) }];
  });
}

/** Deletes saved refs that still hold what was read, all of them or none. */
export async function deleteSavedRefs(git: Git, root: string, refs: readonly SavedRef[]): Promise<void> {
  const input = refs.map(({ ref, commit }) => `option no-deref\0delete ${ref}\0${commit}\0`).join('');
  if (refs.length > 0) await git.run(root, ['update-ref', '-z', '--stdin'], { input });
}
