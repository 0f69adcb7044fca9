import type { DashboardEffect } from '../actions/transition.ts';
import { type DashboardEvent, reduceState } from '../reducer.ts';
import type { State } from '../state/model.ts';
import { handleChooserKeys } from './chooser.ts';
import { settleAll } from './settle-all.ts';
import { type AllState, addMembers, findMember, getActive, type WorkspacePlace } from './state.ts';
import { takeStep, tellActive } from './steps.ts';

/** Everything that can happen to the dashboard of all workspaces. Events without a workspace go to the active one. */
export type AllEvent =
  | DashboardEvent
  /** An event from the engine of a workspace. */
  | { type: 'member'; file: string; event: DashboardEvent }
  /** The workspaces that this machine knows; removed ones stay on the screen. */
  | { type: 'workspaces'; places: readonly WorkspacePlace[]; createState(): State };

/** An effect with its workspace. */
export interface MemberEffect {
  file: string;
  effect: DashboardEffect;
}

export interface AllTransition {
  all: AllState;
  effects: readonly MemberEffect[];
}

/** The only place where the state of all workspaces changes. Pure, like `reduceState`, which handles each of them. */
export function reduceAll(before: AllState, event: AllEvent): AllTransition {
  const { all, effects } = applyToAll(before, event);
  return {
    all: settleAll(before, all, { isByHand: event.type === 'keys' || event.type === 'mouse' }),
    effects,
  };
}

function applyToAll(all: AllState, event: AllEvent): AllTransition {
  switch (event.type) {
    case 'member':
      return sendTo(all, event.file, event.event);
    case 'workspaces': {
      const members = addMembers(all.members, event.places, event.createState);
      const news = members.slice(all.members.length).map(({ label }) => label);
      const next = { ...all, members };
      return { all: news.length === 0 ? next : showText(next, `new here: ${news.join(', ')}`), effects: [] };
    }
    case 'resize':
    case 'focus':
    case 'tick':
      return all.members.reduce<AllTransition>(
        (sofar, { file }) => {
          const { all: next, effects } = sendTo(sofar.all, file, event);
          return { all: next, effects: [...sofar.effects, ...effects] };
        },
        { all, effects: [] },
      );
    case 'keys':
      if (isProgramKey(event.keys)) return sendTo(all, all.active, event);
      if (all.chooser !== null) return { all: handleChooserKeys(all, event.keys), effects: [] };
      return sendTo(all, all.active, event);
    case 'paste':
    case 'mouse':
      return all.chooser !== null ? { all, effects: [] } : sendTo(all, all.active, event);
    default:
      return sendTo(all, all.active, event);
  }
}

/** Handles leaving and redrawing, which work at any time. */
const isProgramKey = ([key, ...others]: readonly string[]): boolean =>
  others.length === 0 && (key === 'ctrl+c' || key === 'ctrl+l');

/** Passes an event to the dashboard of one workspace, and takes the steps that it requests. */
function sendTo(all: AllState, file: string, event: DashboardEvent): AllTransition {
  const before = findMember(all, file);
  const { state, effects } = reduceState(before.state, event);
  let next: AllState = {
    ...all,
    members: all.members.map((each) => (each.file === file ? { ...each, state } : each)),
  };
  const own: MemberEffect[] = [];
  for (const effect of effects) {
    if (effect.do === 'across') next = takeStep(next, effect.step);
    else own.push({ file, effect });
  }
  return { all: tellOfLink(next, file, before.state), effects: own };
}

/** Reports that the engine of a workspace without the keyboard went away or came back. */
function tellOfLink(all: AllState, file: string, before: State): AllState {
  const { label, state } = findMember(all, file);
  const [was, is] = [before.link.phase, state.link.phase];
  if (file === all.active || was === is || was === 'connecting') return all;
  return showText(
    all,
    is === 'lost'
      ? `${label}: its engine is not running (${state.link.reason})`
      : `${label}: its engine is running`,
  );
}

/** Shows a message, unless an undismissed failure is on the screen. */
function showText(all: AllState, text: string): AllState {
  return getActive(all).state.message?.tone === 'bad' ? all : tellActive(all, text);
}
