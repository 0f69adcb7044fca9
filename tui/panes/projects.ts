import { formatCount } from '../../engine/core/base/text.ts';
import type { ChoiceRows, DashboardData } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import { definePane } from './pane.ts';

type ProjectRow = ChoiceRows['projects'][number];

/** Counts the unfinished tasks of a project; those of the workspace's own one name none. */
const countOpenTasks = ({ tasks }: DashboardData, { id, own }: ProjectRow): number =>
  [...tasks.values()].filter(
    ({ project, status, archived_at: archived }) =>
      archived === null &&
      status !== 'done' &&
      status !== 'failed' &&
      (project === id || (own && project === null)),
  ).length;

/** The folders that tasks may name. */
export const projectsPane = definePane<ProjectRow>({
  id: 'projects',
  digit: '8',
  title: 'Projects',
  dataParts: ['choices'],
  listRows: ({ choices }) => choices?.projects ?? [],
  getRowId: ({ id }) => id,
  findRow: ({ choices }, id) => choices?.projects.find((each) => each.id === id),
  fields: { id: ({ id }) => id, folder: ({ folder }) => folder },
  columns: [
    { head: 'id', width: 16, text: ({ id }) => id },
    {
      head: 'open',
      width: 5,
      align: 'right',
      text: (row, { data }) => String(countOpenTasks(data, row)),
      value: (row, { data }) => countOpenTasks(data, row),
    },
    { head: 'folder', text: ({ folder }) => folder },
  ],
  countUnfinished: () => 0,
  isQuietAtZero: true,
  empty: ['No projects.', '', 'projects in svc.yaml names other folders that tasks can be about.'],
  renderPreview: ({ data }, row, cells) => ({
    title: row.id,
    lines: renderFacts(
      [
        ['folder', row.folder],
        ['own', row.own ? 'yes: tasks that name no project are about it' : null],
        [
          'tasks',
          `${formatCount(countOpenTasks(data, row), 'open task')}; project:${row.id} filters them in Work`,
        ],
      ],
      cells,
    ),
  }),
});
