import { assign } from '../actions/tasks.ts';
import { type Step, step } from '../actions/transition.ts';
import type { Overlay, State } from '../state/model.ts';
import { fill } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';

type AgentOverlay = Extract<Overlay, { kind: 'agent' }>;

export function pressInAgents(state: State, overlay: AgentOverlay, key: string): Step {
  const agents = state.data.choices?.agents ?? [];
  const go = (index: number): Step =>
    step({ ...state, overlay: { ...overlay, index: Math.max(0, Math.min(index, agents.length - 1)) } });
  if (key === 'esc') return step({ ...state, overlay: null });
  if (key === 'up' || key === 'k') return go(overlay.index - 1);
  if (key === 'down' || key === 'j') return go(overlay.index + 1);
  const chosen = agents[overlay.index];
  return key === 'enter' && chosen !== undefined
    ? assign({ ...state, overlay: null }, overlay.task, chosen.id)
    : step(state);
}

export const agentLines = (state: State, overlay: AgentOverlay, cells: number, rows: number): Line[] => {
  const agents = state.data.choices?.agents ?? [];
  const top = Math.max(0, Math.min(overlay.index - Math.floor(rows / 2), agents.length - rows));
  return agents.slice(top, top + rows).map((agent, index) => {
    const text = `${fill(agent.id, 12)} ${agent.installed ? 'installed    ' : 'not installed'}  ${agent.command}`;
    return top + index === overlay.index
      ? [span(fill(`▶ ${text}`, cells), 'selected')]
      : [span(`  ${text}`, agent.installed ? undefined : 'dim')];
  });
};
