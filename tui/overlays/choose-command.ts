import { startChosenCommand, stopChosenCommand } from '../actions/run-commands.ts';
import { type StateTransition, transitionTo } from '../actions/transition.ts';
import type { State } from '../state/model.ts';
import { clampNumber } from '../state/numbers.ts';
import type { ChooseCommand } from '../state/overlays.ts';
import { cleanText, padText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

type ListedCommand = ChooseCommand['commands'][number];

export function handleCommandKey(state: State, overlay: ChooseCommand, key: string): StateTransition {
  const highlight = (index: number): StateTransition =>
    transitionTo({
      ...state,
      overlay: { ...overlay, index: clampNumber(index, 0, overlay.commands.length - 1) },
    });
  if (key === 'esc') return transitionTo({ ...state, overlay: null });
  if (key === 'up' || key === 'k') return highlight(overlay.index - 1);
  if (key === 'down' || key === 'j') return highlight(overlay.index + 1);
  if (key === 'x') return stopChosenCommand(state, overlay);
  return key === 'enter' ? startChosenCommand(state, overlay) : transitionTo(state);
}

function describeState({ state, port, exit_code: code, exit_signal: signal }: ListedCommand): string {
  if (state === 'running') return port === null ? 'running' : `running, port ${port}`;
  if (state === 'idle') return '';
  return code === null ? `stopped by ${signal ?? 'the engine'}` : `ended with ${code}`;
}

export const renderCommandLines = (overlay: ChooseCommand, cells: number): StyledLine[] =>
  overlay.commands.map((each, index) => {
    const text = `${padText(each.name, 12)} ${padText(describeState(each), 22)} ${cleanText(each.command)}`;
    return index === overlay.index
      ? [span(padText(`▶ ${text}`, cells), 'selected')]
      : [span(`  ${text}`, each.state === 'running' ? 'good' : undefined)];
  });
