export const containment = `
-- How the processes of its last run are held together: cgroup, pidns or marks.
ALTER TABLE session ADD COLUMN containment TEXT;
`;
