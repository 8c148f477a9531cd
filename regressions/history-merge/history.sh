# Builds the history in a repository whose only commit is good/: the branch
# faster-names leaves main after the first commit and is merged when main has gone on.
set -e
patches=$(cd "$(dirname "$0")" && pwd)/commits
export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.org
export GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@example.org
export GIT_AUTHOR_DATE='2025-05-20T12:00:00 +0000' GIT_COMMITTER_DATE='2025-05-20T12:00:00 +0000'
main=$(git symbolic-ref --short HEAD)

git am -q --committer-date-is-author-date "$patches"/0001-*.patch
git checkout -q -b faster-names
git am -q --committer-date-is-author-date "$patches"/000[2-4]-*.patch
git checkout -q "$main"
git am -q --committer-date-is-author-date "$patches"/000[5-8]-*.patch
git merge -q --no-ff -m "Merge branch 'faster-names'" faster-names
