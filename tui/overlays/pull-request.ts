import { formatLocalTime } from '../../engine/core/base/text.ts';
import {
  CHOOSE_REMOTE,
  chooseAnotherRemote,
  keepCommands,
  listCommands,
  mustChooseRemote,
  runPullRequest,
} from '../actions/pull-requests.ts';
import { type StateTransition, transitionTo } from '../actions/transition.ts';
import { TOO_FAST_MS } from '../keymap/run-binding.ts';
import type { State } from '../state/model.ts';
import type { OpenPullRequest } from '../state/overlays.ts';
import { cleanText, renderFacts, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

type Facts = Parameters<typeof renderFacts>[0];

/** Renders the remote: the only one, or the choices. */
function describeRemotes({ material: { remotes }, remote }: OpenPullRequest): Facts {
  const [only] = remotes;
  if (only === undefined) return [['to', 'no remote: c keeps the commands', 'warn']];
  if (remotes.length === 1) return [['to', `${only.name} (${only.url})`]];
  return remotes.map(({ name, url }, index) => [
    index === 0 ? 'to' : '',
    `${name === remote ? '▶' : ' '} ${index + 1} ${name} (${url})`,
    name === remote ? 'good' : undefined,
  ]);
}

function renderLines(overlay: OpenPullRequest, cells: number): StyledLine[] {
  const { material } = overlay;
  const pull = material.pull_request;
  const known =
    pull === null
      ? null
      : `#${pull.number ?? '?'} ${pull.state ?? ''} ${pull.url ?? ''}${pull.asked_at === null ? '' : `, asked ${formatLocalTime(pull.asked_at)}`}`;
  return [
    ...renderFacts(
      [
        ['there', known, 'good'],
        [
          'pushes',
          `${material.branch === material.push_to ? '' : `${material.branch} as `}${material.push_to} at ${material.head.slice(0, 10)}, never forced`,
        ],
        ...describeRemotes(overlay),
        ['into', material.base],
        ['title', material.title],
      ],
      cells,
    ),
    [],
    ...splitCleanLines(material.body).flatMap((line) =>
      wrapText(line, cells).map((part): StyledLine => [span(part, 'dim')]),
    ),
    [],
    ...(mustChooseRemote(overlay) ? [CHOOSE_REMOTE] : listCommands(overlay)).flatMap((line) =>
      splitCleanLines(line).flatMap((part) =>
        wrapText(cleanText(part), cells).map((each): StyledLine => [span(each)]),
      ),
    ),
  ];
}

export function handlePullRequestKey(
  state: State,
  overlay: OpenPullRequest,
  key: string,
  at: number,
): StateTransition {
  const lines = renderLines(overlay, state.size.columns - 4).length;
  const scroll = (by: number): StateTransition =>
    transitionTo({
      ...state,
      overlay: { ...overlay, top: Math.max(0, Math.min(overlay.top + by, lines - 1)) },
    });
  if (at - overlay.openedAt < TOO_FAST_MS) return transitionTo(state);
  if (overlay.material.remotes.length > 1 && /^(?:tab|[1-9])$/.test(key))
    return transitionTo({ ...state, overlay: chooseAnotherRemote(overlay, key, at) });
  switch (key) {
    case 'y':
      return runPullRequest(state, overlay, 'open');
    case 's':
      return overlay.material.pull_request === null
        ? transitionTo(state)
        : runPullRequest(state, overlay, 'state');
    case 'c':
      return keepCommands(state, overlay);
    case 'j':
    case 'down':
      return scroll(1);
    case 'k':
    case 'up':
      return scroll(-1);
    case 'esc':
    case 'q':
      return transitionTo({ ...state, overlay: null });
    default:
      return transitionTo(state);
  }
}

export function renderPullRequest(
  overlay: OpenPullRequest,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note?: string; lines: StyledLine[]; keys: string } {
  const lines = renderLines(overlay, cells);
  const below = lines.length - overlay.top - rows;
  const isThere = overlay.material.pull_request !== null;
  const choice = overlay.material.remotes.length > 1 ? '  Tab or a digit for another remote' : '';
  return {
    title: `Push ${overlay.session} and open a pull request?`,
    ...(below > 0 ? { note: `▼ ${below} more` } : {}),
    lines: lines.slice(overlay.top, overlay.top + rows),
    keys: `y push and ${isThere ? 'update' : 'open'}${isThere ? '  s query its state' : ''}  c keep the commands${choice}  ↑ ↓ scroll  Esc cancel`,
  };
}
