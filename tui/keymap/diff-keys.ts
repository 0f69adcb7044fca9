import * as comments from '../actions/comments.ts';
import * as diff from '../actions/diff-cursor.ts';
import * as enter from '../actions/enter-worktree.ts';
import * as commands from '../actions/run-commands.ts';
import type { KeyBinding } from './binding.ts';

/** Rows with a run. */
export const RUNS = ['live', 'ended', 'over'] as const;

const inDiff = { group: 'Workers', panes: ['work'], rows: RUNS, view: 'text' } as const;
const jumps = {
  ...inDiff,
  offline: true,
  isHiddenInHints: true,
  disabledReason: diff.checkHasPatch,
} as const;

/** Keys of the diff of a session, while it fills the screen. */
export const DIFF_KEYS: readonly KeyBinding[] = [
  {
    id: 'comment',
    operation: 'comment.add',
    ...inDiff,
    keys: ['c'],
    label: 'comment',
    about: 'comment on a line of the diff; j k choose the line, F sends all',
    disabledReason: comments.checkCanComment,
    run: comments.openComment,
  },
  {
    id: 'remove-comment',
    operation: 'comment.remove',
    ...inDiff,
    isHiddenInHints: true,
    keys: ['C'],
    label: 'remove comment',
    about: 'remove the comment on the line of the cursor',
    disabledReason: comments.checkCanRemoveComment,
    ask: comments.askToRemoveComment,
    confirm: ['y'],
  },
  {
    id: 'pager',
    group: 'Workers',
    panes: ['work'],
    rows: RUNS,
    keys: ['|'],
    isHiddenInHints: true,
    label: 'in your pager',
    about: 'the diff in your pager: `pager` in ui.yaml, such as delta',
    disabledReason: diff.checkShowsPatch,
    run: enter.openPager,
  },
  {
    id: 'next-hunk',
    ...jumps,
    keys: [']'],
    label: 'next hunk',
    about: 'next hunk of the diff',
    run: diff.goToPatchStart('hunk', 1),
  },
  {
    id: 'previous-hunk',
    ...jumps,
    keys: ['['],
    label: 'previous hunk',
    about: 'previous hunk of the diff',
    run: diff.goToPatchStart('hunk', -1),
  },
  {
    id: 'next-file',
    ...jumps,
    keys: ['}'],
    label: 'next file',
    about: 'next file of the diff',
    run: diff.goToPatchStart('file', 1),
  },
  {
    id: 'previous-file',
    ...jumps,
    keys: ['{'],
    label: 'previous file',
    about: 'previous file of the diff',
    run: diff.goToPatchStart('file', -1),
  },
];

/** Keys that open the folder of a session's work. */
export const WORKTREE_KEYS: readonly KeyBinding[] = [
  {
    id: 'edit-worktree',
    aliases: ['editor', 'code'],
    group: 'Workers',
    panes: ['work'],
    rows: [...RUNS, 'ask'],
    keys: ['e'],
    label: 'edit',
    about: 'open the line of the diff in $EDITOR, in its worktree; without a line the folder',
    acts: true,
    offline: true,
    hasUse: (state) => enter.checkCanEdit(state) === null,
    disabledReason: enter.checkCanEdit,
    run: enter.openInEditor,
  },
  {
    id: 'shell',
    aliases: ['terminal', 'cd'],
    group: 'Workers',
    panes: ['work'],
    rows: [...RUNS, 'ask'],
    keys: ['$'],
    label: 'shell',
    about: 'open a shell in its worktree; leaving the shell returns here',
    acts: true,
    offline: true,
    hasUse: (state) => enter.checkCanEnterWorktree(state) === null,
    disabledReason: enter.checkCanEnterWorktree,
    run: enter.openShell,
  },
  {
    id: 'run-command',
    aliases: ['serve', 'dev', 'preview', 'server', 'port'],
    operation: ['worktree.run', 'worktree.stop_command'],
    group: 'Workers',
    panes: ['work'],
    rows: RUNS,
    keys: ['s'],
    label: 'serve',
    about: 'start, stop or show a run command of its project in its worktree, such as a dev server',
    hasUse: (state) => commands.checkCanRunCommand(state) === null,
    disabledReason: commands.checkCanRunCommand,
    run: commands.openCommandChoice,
  },
];
