import { checkCanCopy, copySelected, openPreferences } from '../actions/preferences.ts';
import { askToQuit } from '../actions/set-aside.ts';
import { transitionTo } from '../actions/transition.ts';
import { checkCanTrust, runTrustCommand } from '../actions/trust.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import { isEngineGone, type KeyBinding } from './binding.ts';

const always = { offline: true, isHiddenInHints: true } as const;

/** Keys of the program itself. */
export const PROGRAM_KEYS: readonly KeyBinding[] = [
  {
    id: 'palette',
    group: 'Program',
    keys: [':'],
    label: 'commands',
    about: 'find an action by name',
    offline: true,
    run: (state) => transitionTo({ ...state, overlay: { kind: 'palette', input: EMPTY_INPUT, index: 0 } }),
  },
  {
    id: 'help',
    group: 'Program',
    keys: ['?'],
    label: 'help',
    about: 'list and search these keys; Enter runs one',
    offline: true,
    run: (state) => transitionTo({ ...state, overlay: { kind: 'help', input: EMPTY_INPUT, index: 0 } }),
  },
  {
    id: 'preferences',
    ...always,
    group: 'Program',
    keys: [','],
    label: 'preferences',
    about: 'theme, bell, notices, columns of this list; stored in ui.yaml of the machine home',
    run: openPreferences,
  },
  {
    id: 'copy',
    ...always,
    group: 'Program',
    keys: ['Y'],
    label: 'copy',
    about: 'copy the id of the row, or the text of an opened row',
    disabledReason: checkCanCopy,
    run: copySelected,
  },
  {
    id: 'engine',
    ...always,
    group: 'Program',
    keys: ['i'],
    label: 'engine',
    about: 'show what runs, where it listens, what it uses',
    run: (state) => transitionTo({ ...state, overlay: { kind: 'engine', top: 0 } }),
  },
  {
    id: 'message',
    ...always,
    group: 'Program',
    keys: ['!'],
    label: 'message',
    about: 'show the last message in full',
    disabledReason: (state) => (state.message === null ? 'there is no message' : null),
    run: (state) =>
      transitionTo({
        ...state,
        overlay: {
          kind: 'text',
          title: 'Message',
          lines: [state.message!.text, ...(state.message!.hint ? [`next: ${state.message!.hint}`] : [])],
          top: 0,
        },
      }),
  },
  {
    id: 'trust',
    group: 'Program',
    isHiddenInHints: true,
    keys: ['T'],
    label: 'trust',
    about: 'show settings of svc.yaml that no one has agreed to here, and ask',
    disabledReason: checkCanTrust,
    run: runTrustCommand,
  },
  {
    id: 'start-engine',
    group: 'Program',
    keys: ['u'],
    label: 'start engine',
    about: 'start the engine if it is not running',
    offline: true,
    isHiddenInHints: true,
    disabledReason: (state) => (isEngineGone(state) ? null : 'the engine is running'),
    run: (state) => transitionTo(state, { do: 'start-engine' }),
  },
  {
    id: 'redraw',
    ...always,
    group: 'Program',
    keys: ['ctrl+l'],
    label: 'redraw',
    about: 'redraw the whole screen',
    run: (state) => transitionTo(state, { do: 'redraw' }),
  },
  {
    id: 'suspend',
    ...always,
    group: 'Program',
    keys: ['ctrl+z'],
    label: 'suspend',
    about: 'back to the shell; fg returns',
    run: (state) => transitionTo(state, { do: 'suspend' }),
  },
  {
    id: 'quit',
    group: 'Program',
    keys: ['q', 'ctrl+c'],
    label: 'quit',
    about: 'leave the dashboard; the engine keeps running. q asks first if a form has unsent text',
    offline: true,
    asksOnlyOnLoss: true,
    ask: askToQuit,
    confirm: ['y'],
    run: (state) => transitionTo(state, { do: 'quit' }),
  },
];
