export const reviews = `
-- What has become of an ended session's branch without a promotion: merged (its base holds the work) or gone. Null while it
-- is there and holds work that its base has not.
ALTER TABLE session ADD COLUMN branch_state TEXT;
`;
