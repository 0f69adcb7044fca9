import { assignTask } from '../actions/tasks.ts';
import { type StateTransition, transitionTo } from '../actions/transition.ts';
import type { State } from '../state/model.ts';
import type { OverlayState } from '../state/overlays.ts';
import { padText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

type AgentOverlay = Extract<OverlayState, { kind: 'agent' }>;

export function handleAgentKey(state: State, overlay: AgentOverlay, key: string): StateTransition {
  const agents = state.data.choices?.agents ?? [];
  const highlightAgent = (index: number): StateTransition =>
    transitionTo({
      ...state,
      overlay: { ...overlay, index: Math.max(0, Math.min(index, agents.length - 1)) },
    });
  if (key === 'esc') return transitionTo({ ...state, overlay: null });
  if (key === 'up' || key === 'k') return highlightAgent(overlay.index - 1);
  if (key === 'down' || key === 'j') return highlightAgent(overlay.index + 1);
  const chosen = agents[overlay.index];
  return key === 'enter' && chosen !== undefined
    ? assignTask({ ...state, overlay: null }, overlay.task, chosen.id)
    : transitionTo(state);
}

export const renderAgentLines = (
  state: State,
  overlay: AgentOverlay,
  cells: number,
  rows: number,
): StyledLine[] => {
  const agents = state.data.choices?.agents ?? [];
  const top = Math.max(0, Math.min(overlay.index - Math.floor(rows / 2), agents.length - rows));
  return agents.slice(top, top + rows).map((agent, index) => {
    const text = `${padText(agent.id, 12)} ${agent.installed ? 'installed    ' : 'not installed'}  ${agent.command}`;
    return top + index === overlay.index
      ? [span(padText(`▶ ${text}`, cells), 'selected')]
      : [span(`  ${text}`, agent.installed ? undefined : 'dim')];
  });
};
