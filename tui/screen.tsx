import { Box, Text } from 'ink';
import { Component, type ReactNode } from 'react';
import { findCurrentFile } from './actions/diff-cursor.ts';
import { getPreviewTop, getScroll, isShowingLog } from './actions/navigation.ts';
import { describeSort } from './actions/sorting.ts';
import { CHOOSER_KEYS, renderChooser } from './all/chooser.ts';
import { describeCombinedList, renderCombinedList } from './all/combined-list.ts';
import { renderAllHeaderLine } from './all/header.ts';
import type { AllState } from './all/state.ts';
import { renderBannerLines, renderHeaderLine } from './frame/header.ts';
import { renderHintLine } from './frame/hint-line.ts';
import { renderListLines } from './frame/list-lines.ts';
import { renderSmallScreen } from './frame/small-screen.ts';
import { renderTabsLine } from './frame/tabs.ts';
import { renderMessageLines, renderQuestionLines } from './layout/bottom-lines.ts';
import {
  type LayoutBox as Area,
  getLayout,
  LIST_EDGE,
  PREVIEW_EDGE,
  type ScreenLayout,
  SMALLEST,
} from './layout/layout.ts';
import { fitsInPreview } from './overlays/answer-ask.ts';
import { describeLineOverlay, describeTyped, isLineOverlay } from './overlays/bottom-line.ts';
import { renderOverlay } from './overlays/index.ts';
import { isCombinedPane } from './pane-ids.ts';
import { renderFileLines } from './panes/file-lines.ts';
import { getFacts, getPane, getPreview, getTabPane } from './panes/index.ts';
import type { Pane } from './panes/pane.ts';
import { getPatchFiles } from './panes/patch-lines.ts';
import { getTheme } from './preferences/preferences.ts';
import { isPaneFetched } from './state/data.ts';
import { findShownWork } from './state/details.ts';
import { showCaret } from './state/input.ts';
import type { State } from './state/model.ts';
import { fitLine, makeLineDrawable, markHits, skipCells } from './text/text.ts';
import { type StyledLine, span, type Theme } from './text/theme.ts';
import { Frame, type FrameContent } from './widgets/frame.tsx';
import { TextLines } from './widgets/lines.tsx';
import { StillTable } from './widgets/still-table.tsx';

interface Props {
  state: State;
  /** The workspaces whose rows are in the lists in addition to those of `state`; null for a single one. */
  all: AllState | null;
  /** Null for no colour. */
  theme: Theme | null;
}

/** Renders a state. The screen depends on nothing else, so a state is all that a test needs. */
export function Screen({
  state,
  all = null,
  colours,
}: {
  state: State;
  all?: AllState | null;
  colours: boolean;
}): ReactNode {
  const theme = colours ? getTheme(state.preferences) : null;
  const layout = getLayout(state);
  const { columns, rows } = state.size;
  if (layout.kind === 'too-small') {
    const text =
      state.armed?.subject.kind === 'program'
        ? `${state.armed.question} ${state.armed.answers.map(({ key, label }) => `${key} ${label}`).join(' ')}`
        : `svc needs ${SMALLEST.columns}x${SMALLEST.rows}, this is ${columns}x${rows}. q quits.`;
    return <Text>{text.slice(0, columns * rows)}</Text>;
  }
  const head = [
    all === null ? renderHeaderLine(state) : renderAllHeaderLine(all),
    renderTabsLine(
      state,
      all?.members.map((each) => each.state),
    ),
    ...renderBannerLines(state),
  ];
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <TextLines lines={head.map((line) => fitLine(makeLineDrawable(line), columns))} theme={theme} />
      <Box flexGrow={1} height={layout.body}>
        <ScreenBody {...{ state, all, layout, theme }} />
      </Box>
      <TextLines
        lines={renderBottomLines(state, all).map((line) => fitLine(makeLineDrawable(line), columns))}
        theme={theme}
      />
    </Box>
  );
}

function ScreenBody({ state, all, layout, theme }: Props & { layout: ScreenLayout }): ReactNode {
  const { overlay, size } = state;
  if (all !== null && all.chooser !== null)
    return (
      <Frame
        title="Workspaces"
        note={String(all.members.length)}
        lines={renderChooser(all, { cells: size.columns - 4, rows: layout.body - 2 })}
        focused={true}
        {...{ theme, width: size.columns, height: layout.body }}
      />
    );
  const view =
    overlay === null || isInPreview(state)
      ? null
      : renderOverlay(state, overlay, { cells: size.columns - 4, rows: layout.body - 2 });
  if (view !== null) {
    const { title, note, lines } = view;
    return (
      <Frame
        {...{ title, note, lines, theme }}
        focused={true}
        isWhole={overlay?.kind === 'answer' || overlay?.kind === 'text' || overlay?.kind === 'follow-up'}
        width={size.columns}
        height={layout.body}
      >
        {overlay?.kind === 'engine' ? <StillTable {...{ lines, theme }} /> : undefined}
      </Frame>
    );
  }
  if (layout.kind === 'small' && layout.columns.length === 0) {
    return <TextLines lines={renderSmallScreen(state, layout.body)} theme={theme} />;
  }
  return layout.columns.map((boxes) => (
    <Box key={JSON.stringify(boxes[0]?.content)} flexDirection="column">
      {boxes.map((area) => (
        <PaneErrorBoundary key={JSON.stringify(area.content)} {...{ area, theme, state, all }} />
      ))}
    </Box>
  ));
}

function BoxFrame({ state, all, area, theme }: Props & { area: Area }): ReactNode {
  const content = getFrameContent(state, all, area);
  // Its usage figures are names and values that seldom change.
  const isTable = 'preview' in area.content && area.content.preview === 'usage' && content.lines.length > 0;
  return (
    <Frame {...content} width={area.width} height={area.height} theme={theme}>
      {isTable ? <StillTable lines={content.lines.map(makeLineDrawable)} theme={theme} /> : undefined}
    </Frame>
  );
}

/** Reports whether an ask is answered in the preview's box, next to its list. */
const isInPreview = (state: State): boolean =>
  state.overlay?.kind === 'answer' && fitsInPreview(state, state.overlay);

/** Reports whether the preview has the keyboard, not the list. */
const isPreviewFocused = (state: State): boolean =>
  state.view !== 'list' || isInPreview(state) || state.armed?.binding === 'promote';

/** Title, lines and note of one box. */
function getFrameContent(state: State, all: AllState | null, { content, width, height }: Area): FrameContent {
  const isAlone = state.view === 'full';
  if ('list' in content) {
    const pane = getPane(content.list) as unknown as Pane<object>;
    const focused = state.focus === pane.id && !isPreviewFocused(state);
    const { filter } = state.lists[pane.id];
    const name = `${pane.digit === '' ? getPane(getTabPane(pane.id)).digit : pane.digit} ${pane.title}`;
    const title = `${name}${filter === '' ? '' : `  /${filter}`}`;
    const size = { cells: width - 4, rows: height - LIST_EDGE, focused };
    if (all !== null && isCombinedPane(content.list)) {
      const note = [describeMarks(state, pane), describeCombinedList(all, content.list)];
      const lines = renderCombinedList(all, content.list, size);
      return { title, note: note.filter(Boolean).join(' · '), lines, focused };
    }
    const whose = all === null ? '' : ` · ${state.across?.label}`;
    const lines = renderListLines(getPane(content.list), state, size);
    const note = isPaneFetched(pane.id, state) ? describeList(state, pane) : undefined;
    return { title: `${title}${whose}`, note, lines, focused };
  }
  if ('facts' in content) {
    const facts = getFacts(state, content.facts, width - 4);
    const lines = facts?.lines ?? [];
    const below = lines.length - (height - PREVIEW_EDGE);
    return { title: 'facts', note: below > 0 ? `▼ ${below} more, Enter` : '', lines, focused: false };
  }
  if ('files' in content) return getFilesContent(state, width - 4, height - PREVIEW_EDGE);
  if (state.overlay !== null && isInPreview(state)) {
    const view = renderOverlay(state, state.overlay, { cells: width - 4, rows: height - 2 });
    // Nothing is drawn to the right of a preview.
    if (view !== null) return { ...view, focused: true, isWhole: true };
  }
  const preview = getPreview(state, content.preview, width - 4);
  if (preview === null) return { title: 'preview', lines: [], focused: isAlone };
  const top = getPreviewTop(state);
  const { left } = getScroll(state);
  const { pinned = [] } = preview;
  const shown = preview.lines
    .slice(top, top + Math.max(1, height - 2 - pinned.length))
    .map((line, index) => preview.colour?.(top + index, left) ?? skipCells(line, left));
  const query = state.search?.query ?? '';
  const below = preview.lines.length - top - shown.length;
  const place = below > 0 ? `▼ ${below} more` : top > 0 && !isShowingLog(state) ? 'end' : '';
  const note = [preview.note, place].filter(Boolean).join(' · ');
  const marked = query === '' ? shown : shown.map((line) => markHits(line, query));
  const lines = [...pinned, ...marked];
  const title = state.across === null ? preview.title : `${state.across.label} · ${preview.title}`;
  return { title, note, lines, focused: isPreviewFocused(state), isWhole: isAlone };
}

/** The files of the shown diff, with the position of the current one. */
function getFilesContent(state: State, cells: number, rows: number): FrameContent {
  const work = findShownWork(state);
  if (work === null) return { title: 'files', lines: [], focused: false };
  const files = getPatchFiles(work);
  const current = findCurrentFile(state, work);
  const note = `${current + 1} of ${files.length}`;
  return { title: 'files', note, lines: renderFileLines(files, current, { cells, rows }), focused: false };
}

/** Returns the note at the upper border of a list: how many rows are marked, then the note of its pane. */
const describeList = (state: State, pane: Pane<object>): string | undefined =>
  [describeMarks(state, pane), pane.note?.(state)].filter(Boolean).join(' · ') || undefined;

/** Describes how many rows are marked, and the sort order. */
function describeMarks(state: State, pane: Pane<object>): string {
  const { ids, marks, sort } = state.lists[pane.id];
  const hidden = marks.size === 0 ? 0 : [...marks.keys()].filter((id) => !ids.includes(id)).length;
  const marked = marks.size === 0 ? '' : `${marks.size} marked${hidden === 0 ? '' : `, ${hidden} not shown`}`;
  const sorted = sort === null ? '' : `by ${describeSort(sort)}`;
  return [marked, sorted].filter(Boolean).join(' · ');
}

function renderBottomLines(state: State, all: AllState | null): StyledLine[] {
  const { overlay, size } = state;
  const messages = renderMessageLines(state);
  if (all !== null && all.chooser !== null) return [...messages, [span(` ${CHOOSER_KEYS}`, 'dim')]];
  if (state.armed !== null) return [...messages, ...renderQuestionLines(state)];
  if (overlay === null) return [...messages, renderHintLine(state)];
  if (isLineOverlay(overlay)) {
    const { label, hint } = describeLineOverlay(overlay);
    return [
      ...messages,
      [span(` ${label}: `, 'key'), span(`${describeTyped(overlay, showCaret)}   `), span(hint, 'dim')],
    ];
  }
  const keys = renderOverlay(state, overlay, { cells: size.columns, rows: 1 })?.keys ?? 'Esc close';
  return [...messages, [span(` ${keys}`, 'dim')]];
}

/** Shows an error instead of a pane that cannot be drawn; the other panes still work. */
class PaneErrorBoundary extends Component<
  Props & { area: Area },
  { failed: Error | null; at: State | null }
> {
  override state: { failed: Error | null; at: State | null } = { failed: null, at: null };

  static getDerivedStateFromError(failed: Error) {
    return { failed };
  }

  override componentDidUpdate(before: Props): void {
    // The next state may well be drawable, so try again.
    if (this.state.failed !== null && before.state !== this.props.state) this.setState({ failed: null });
  }

  override render(): ReactNode {
    const { state, all, area, theme } = this.props;
    const { failed } = this.state;
    if (failed === null) return <BoxFrame {...{ state, all, area, theme }} />;
    const lines: StyledLine[] = [
      [span('This pane could not be drawn; the others still work.', 'bad')],
      [span(failed.message)],
      [span('svc.yaml, tasks and workers are not affected.', 'dim')],
    ];
    const { width, height } = area;
    return <Frame title="error" {...{ lines, width, height, theme }} focused={false} />;
  }
}
