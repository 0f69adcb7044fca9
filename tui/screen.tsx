import { Box, Text } from 'ink';
import { Component, type ReactNode } from 'react';
import { scrollOf, showsLog, topOf } from './actions/navigation.ts';
import { messageLines, questionLines } from './layout/bottom-lines.ts';
import { bannerLines, headerLine, tabsLine } from './layout/header.ts';
import { hintLine } from './layout/hint-line.ts';
import { type Box as Area, type Layout, LEAST, LIST_EDGE, layoutOf } from './layout/layout.ts';
import { listLines } from './layout/list-lines.ts';
import { smallLines } from './layout/small-screen.ts';
import { fitsPreview } from './overlays/answer-ask.ts';
import { isLine, labelOf } from './overlays/bottom-line.ts';
import { overlayView } from './overlays/index.ts';
import { paneOf, previewOf, selectedRow, tabOf } from './panes/index.ts';
import type { Pane } from './panes/pane.ts';
import { logPreview } from './panes/workers.ts';
import { isFetched } from './state/data.ts';
import type { SessionRow, State } from './state/model.ts';
import { drawableLine, fitLine, markHits } from './text/text.ts';
import { type Line, span } from './text/theme.ts';
import { Frame, type Framed } from './widgets/frame.tsx';
import { Lines } from './widgets/lines.tsx';
import { StillTable } from './widgets/still-table.tsx';

interface Props {
  state: State;
  colours: boolean;
}

/** The whole screen of a state. It depends on nothing else, so a state is also its own test fixture. */
export function Screen({ state, colours }: Props): ReactNode {
  const layout = layoutOf(state);
  const { columns, rows } = state.size;
  if (layout.kind === 'too-small') {
    return (
      <Text>
        {`svc needs ${LEAST.columns}x${LEAST.rows}, this is ${columns}x${rows}. q quits.`.slice(
          0,
          columns * rows,
        )}
      </Text>
    );
  }
  const head = [
    headerLine(state),
    ...(layout.kind === 'wide' ? [] : [tabsLine(state)]),
    ...bannerLines(state),
  ];
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Lines lines={head.map((line) => fitLine(drawableLine(line), columns))} colours={colours} />
      <Box flexGrow={1} height={layout.body}>
        <Body state={state} layout={layout} colours={colours} />
      </Box>
      <Lines lines={bottom(state).map((line) => fitLine(drawableLine(line), columns))} colours={colours} />
    </Box>
  );
}

function Body({ state, layout, colours }: Props & { layout: Layout }): ReactNode {
  const { overlay, size } = state;
  const view =
    overlay === null || isInPreview(state)
      ? null
      : overlayView(state, overlay, { cells: size.columns - 4, rows: layout.body - 2 });
  if (view !== null) {
    const { title, note, lines } = view;
    return (
      <Frame
        {...{ title, note, lines, colours }}
        focused={true}
        isWhole={overlay?.kind === 'answer' || overlay?.kind === 'text'}
        width={size.columns}
        height={layout.body}
      >
        {overlay?.kind === 'engine' ? <StillTable {...{ lines, colours }} /> : undefined}
      </Frame>
    );
  }
  if (layout.kind === 'small' && layout.columns.length === 0) {
    return <Lines lines={smallLines(state, layout.body)} colours={colours} />;
  }
  return layout.columns.map((boxes) => (
    <Box key={JSON.stringify(boxes[0]?.content)} flexDirection="column">
      {boxes.map((area) => (
        <Guard key={JSON.stringify(area.content)} area={area} colours={colours} state={state} />
      ))}
    </Box>
  ));
}

function Place({ state, area, colours }: Props & { area: Area }): ReactNode {
  return <Frame {...framed(state, area)} width={area.width} height={area.height} colours={colours} />;
}

/** A question that is answered where its preview was. */
const isInPreview = (state: State): boolean =>
  state.overlay?.kind === 'answer' && fitsPreview(state, state.overlay);

/** Whether the keyboard is with what the preview shows, and not with the list. */
const isPreviewFocused = (state: State): boolean =>
  state.view === 'full' || isInPreview(state) || state.armed?.binding === 'promote';

/** What stands in one box. */
function framed(state: State, { content, width, height }: Area): Framed {
  const isAlone = state.view === 'full';
  if ('list' in content) {
    const pane = paneOf(content.list) as unknown as Pane<object>;
    const focused = state.focus === pane.id && !isPreviewFocused(state);
    const { filter } = state.lists[pane.id];
    const name = `${pane.digit === '' ? paneOf(tabOf(pane.id)).digit : pane.digit} ${pane.title}`;
    const title = `${name}${filter === '' ? '' : `  /${filter}`}`;
    const size = { cells: width - 4, rows: height - LIST_EDGE };
    const lines = listLines(paneOf(content.list), state, { ...size, focused });
    const note = isFetched(pane.id, state) ? pane.note?.(state) : undefined;
    return { title, note, lines, focused };
  }
  if ('log' in content) {
    const row = selectedRow(state, 'workers') as SessionRow | undefined;
    if (row === undefined) return { title: 'log', lines: [], focused: false };
    const { title, note, lines } = logPreview(state, row);
    return { title, note, lines: lines.slice(-Math.max(1, height - 2)), focused: false };
  }
  if (state.overlay !== null && isInPreview(state)) {
    const view = overlayView(state, state.overlay, { cells: width - 4, rows: height - 2 });
    // Nothing stands to the right of a preview.
    if (view !== null) return { ...view, focused: true, isWhole: true };
  }
  const preview = previewOf(state, content.preview, width - 4);
  if (preview === null) return { title: 'preview', lines: [], focused: isAlone };
  const top = topOf(state);
  const { left } = scrollOf(state);
  const { pinned = [] } = preview;
  const shown = preview.lines.slice(top, top + Math.max(1, height - 2 - pinned.length));
  const query = state.search?.query ?? '';
  const below = preview.lines.length - top - shown.length;
  const place = below > 0 ? `▼ ${below} more` : top > 0 && !showsLog(state) ? 'end' : '';
  const note = [preview.note, place].filter(Boolean).join(' · ');
  const marked = query === '' ? shown : shown.map((line) => markHits(line, query));
  const lines = [...pinned, ...marked];
  return { title: preview.title, note, lines, focused: isPreviewFocused(state), isWhole: isAlone, left };
}

function bottom(state: State): Line[] {
  const { overlay, size } = state;
  const messages = messageLines(state);
  if (state.armed !== null) return [...messages, ...questionLines(state)];
  if (overlay === null) return [...messages, hintLine(state)];
  if (isLine(overlay)) {
    const { label, hint } = labelOf(overlay);
    const { value, caret } = overlay.input;
    return [
      ...messages,
      [
        span(` ${label}: `, 'key'),
        span(`${value.slice(0, caret)}▏${value.slice(caret)}   `),
        span(hint, 'dim'),
      ],
    ];
  }
  const keys = overlayView(state, overlay, { cells: size.columns, rows: 1 })?.keys ?? 'Esc close';
  return [...messages, [span(` ${keys}`, 'dim')]];
}

/** A pane that fails says so in its place; the others go on. */
class Guard extends Component<Props & { area: Area }, { failed: Error | null; at: State | null }> {
  override state: { failed: Error | null; at: State | null } = { failed: null, at: null };

  static getDerivedStateFromError(failed: Error) {
    return { failed };
  }

  override componentDidUpdate(before: Props): void {
    // What comes next may well be fine: with another state it is tried again.
    if (this.state.failed !== null && before.state !== this.props.state) this.setState({ failed: null });
  }

  override render(): ReactNode {
    const { state, area, colours } = this.props;
    const { failed } = this.state;
    if (failed === null) return <Place state={state} area={area} colours={colours} />;
    const lines: Line[] = [
      [span('This pane could not be drawn; the others go on.', 'bad')],
      [span(failed.message)],
      [span('svc.yaml, tasks and workers are not touched by it.', 'dim')],
    ];
    const { width, height } = area;
    return <Frame title="error" {...{ lines, width, height, colours }} focused={false} />;
  }
}
