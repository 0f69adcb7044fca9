import { type MemberEffect, reduceAll } from '../../../tui/all/reduce-all.ts';
import { type AllState, createAllState, findMember, getActive } from '../../../tui/all/state.ts';
import type { DashboardEvent } from '../../../tui/reducer.ts';
import { Screen } from '../../../tui/screen.tsx';
import type { DataChange } from '../../../tui/state/data.ts';
import type { State } from '../../../tui/state/model.ts';
import { createInitialState } from '../../../tui/store.ts';
import { type Bench, NOW, showDecision } from './dashboard.ts';
import { renderAt } from './render.tsx';

/** The dashboard of several workspaces, without a terminal or engines. */
export interface AllBench {
  all(): AllState;
  /** Returns the state of a workspace by name. */
  of(name: string): State;
  /** Name of the workspace that has the keyboard focus. */
  active(): string;
  /** The selected row of the focused list: workspace and id. */
  selected(): string;
  keys(...keys: string[]): AllBench;
  burst(...keys: string[]): AllBench;
  /** Clicks on a text of the screen. */
  click(text: RegExp): AllBench;
  /** Delivers an event from the engine of a workspace. */
  tell(name: string, event: DashboardEvent): AllBench;
  data(name: string, change: DataChange): AllBench;
  /** Delivers the details of decisions of a workspace. */
  showDecisions(name: string, ...ids: number[]): AllBench;
  /** Adds workspaces. */
  add(...names: string[]): AllBench;
  wait(ms: number): AllBench;
  calls(): { workspace: string; operation: string; input: object }[];
  effects(): readonly MemberEffect[];
  screen(): string[];
}

const fileOf = (name: string): string => `/home/${name}/svc.yaml`;
const placeOf = (name: string) => ({ file: fileOf(name), root: `/home/${name}`, name });

/** Creates workspaces whose engines have answered and which are empty; the first one has the keyboard focus. */
export function allBench(
  names: readonly [string, ...string[]] = ['alpha', 'beta', 'gamma'],
  [columns, rows]: readonly [number, number] = [80, 24],
): AllBench {
  let now = NOW;
  const size = { columns, rows };
  const [first, ...others] = names;
  let all = createAllState([placeOf(first), ...others.map(placeOf)], { here: null, size, now });
  const effects: MemberEffect[] = [];
  const send = (event: Parameters<typeof reduceAll>[1]): AllBench => {
    const step = reduceAll(all, event);
    all = step.all;
    effects.push(...step.effects);
    return self;
  };
  const self: AllBench = {
    all: () => all,
    of: (name) => findMember(all, fileOf(name)).state,
    active: () => getActive(all).label,
    selected() {
      const { label, state } = getActive(all);
      return `${label} ${state.lists[state.focus].selected}`;
    },
    keys(...keys) {
      for (const key of keys) {
        now += 300;
        send({ type: 'keys', keys: [key], at: now });
      }
      return self;
    },
    burst: (...keys) => send({ type: 'keys', keys, at: now }),
    click(text) {
      const lines = self.screen();
      const row = lines.findIndex((line) => text.test(line));
      if (row === -1) throw new Error(`${text} is not on the screen`);
      const column = lines[row]!.search(text);
      return send({ type: 'mouse', input: { what: 'click', row, column } });
    },
    tell: (name, event) => send({ type: 'member', file: fileOf(name), event }),
    data: (name, change) => self.tell(name, { type: 'data', change, at: now }),
    showDecisions(name, ...ids) {
      const member = { state: () => self.of(name), send: (event: DashboardEvent) => self.tell(name, event) };
      for (const id of ids) showDecision(member as unknown as Bench, id);
      return self;
    },
    add: (...more) =>
      send({
        type: 'workspaces',
        places: more.map(placeOf),
        createState: () => createInitialState({ size, now }),
      }),
    wait(ms) {
      now += ms;
      return send({ type: 'tick', at: now });
    },
    calls: () =>
      effects.flatMap(({ file, effect }) =>
        (effect.do === 'call' ? [effect] : effect.do === 'calls' ? effect.calls : []).map(
          ({ operation, input }) => ({ workspace: findMember(all, file).label, operation, input }),
        ),
      ),
    effects: () => effects,
    screen() {
      const { state } = getActive(all);
      const drawn = <Screen state={state} all={all.isAlone ? null : all} colours={false} />;
      return renderAt(drawn, state.size.columns, state.size.rows);
    },
  };
  for (const name of names)
    self.tell(name, {
      type: 'link',
      link: { phase: 'live', workspace: name, root: `/home/${name}` },
    });
  return self;
}
