import { findCommentsAt } from '../panes/patch-lines.ts';
import { findDetail } from '../state/details.ts';
import { createInput, EMPTY_INPUT } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { WriteComment } from '../state/overlays.ts';
import { findLineAnchor } from '../state/patch.ts';
import type { CommentRow } from '../state/rows.ts';
import { checkHasPatch, findOpenWork, getCursorRow, showDiffCursor } from './diff-cursor.ts';
import {
  callEngine,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

/** Finds comments on the line under the cursor. */
function findComments(state: State): readonly CommentRow[] {
  const session = findOpenWork(state)?.session ?? '';
  return findCommentsAt(getCursorRow(state), findDetail(state, 'comments', session)?.detail ?? []);
}

export const checkCanComment = (state: State): string | null => {
  const row = getCursorRow(state);
  if (row === undefined) return checkHasPatch(state);
  return findLineAnchor(row) === null ? 'choose a line of a file' : null;
};

/** Opens a comment on the line under the cursor; without a cursor, shows it first. */
export function openComment(state: State): StateTransition {
  const { session, work } = findOpenWork(state)!;
  const anchor = findLineAnchor(getCursorRow(state));
  if (anchor === null) return showDiffCursor(state);
  const earlier = findComments(state)[0]?.body ?? '';
  const overlay: WriteComment = {
    kind: 'comment',
    session,
    head: work.head,
    ...anchor,
    ...fitText(earlier),
  };
  const opened = { ...state, message: null, overlay };
  // One line cannot show several.
  return overlay.long === null ? transitionTo(opened) : editComment(opened, overlay);
}

const fitText = (text: string): Pick<WriteComment, 'input' | 'long'> =>
  text.includes('\n') ? { input: EMPTY_INPUT, long: text } : { input: createInput(text), long: null };

const readCommentText = ({ input, long }: WriteComment): string => long ?? input.value;

/** Opens the editor for a comment; the edited text is saved. */
export const editComment = (state: State, overlay: WriteComment): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: readCommentText(overlay),
    name: 'comment.md',
    onEdited: (now, edited) => keepComment(now, { ...overlay, ...fitText(edited.trim()) }),
  });

/** Sends the text. */
export function keepComment(state: State, overlay: WriteComment): StateTransition {
  const { session, head, path, side, line } = overlay;
  const body = readCommentText(overlay).trim();
  if (body === '')
    return transitionTo(showMessage({ ...state, overlay: null }, 'nothing was written; C removes a comment'));
  if (state.link.phase === 'lost')
    return transitionTo(
      showMessage(
        { ...state, overlay },
        'the engine is not running: the comment was not saved',
        'bad',
        'Esc, then u starts it',
      ),
    );
  return callEngine(
    { ...state, overlay: null },
    {
      operation: 'comment.add',
      input: { session, path, side, line, body, head },
      form: overlay,
      busy: `comment on ${path}:${line}`,
      doing: 'saving the comment',
      describeAnswer: () => `comment saved on ${path}:${line} · F sends it`,
    },
  );
}

export function checkCanRemoveComment(state: State): string | null {
  const reason = checkHasPatch(state);
  if (reason !== null) return reason;
  return findComments(state).length === 0 ? 'there is no comment on this line' : null;
}

export function askToRemoveComment(state: State): ScreenQuestion {
  const { session } = findOpenWork(state)!;
  const { comment_id: id, path, line } = findComments(state)[0]!;
  return {
    subject: { kind: 'session', id: session },
    text: `Remove comment ${id} on ${path}:${line}?`,
    answers: [
      {
        key: 'y',
        label: 'remove',
        run: (now) =>
          callEngine(now, {
            operation: 'comment.remove',
            input: { id },
            busy: `comment on ${path}:${line}`,
            doing: 'removing the comment',
            describeAnswer: () => `comment ${id} is removed`,
          }),
      },
    ],
  };
}
