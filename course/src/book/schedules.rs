//! The programs in which the reader is the scheduler. Each program has a panel on its page. A page with a
//! panel also gets the list of all programs, so that the panel can offer the next one.

use crate::book::pages::Page;
use exercises_protocol::Kinds;
use mdbook_driver::book::Book;
use serde_json::json;

/// Adds the list to each page that has a panel.
pub(super) fn add(book: &mut Book, kinds: &Kinds) {
    let list = list(kinds);
    book.for_each_chapter_mut(|chapter| {
        if chapter.content.contains("class=\"schedule\"") {
            chapter.content.push_str(&list);
        }
    });
}

fn list(kinds: &Kinds) -> String {
    let programs = kinds.schedule.iter().map(|program| {
        let page = program.chapter.replace(".md", ".html");
        json!({ "name": program.name, "title": program.title, "page": page })
    });
    let programs = json!(programs.collect::<Vec<_>>()).to_string().replace('<', "\\u003c");
    format!("\n<script type=\"application/json\" class=\"schedules\">{programs}</script>\n")
}

/// Returns the programs that have no panel on their page.
pub(super) fn faults(pages: &[Page], kinds: &Kinds) -> Vec<String> {
    let missing = kinds.schedule.iter().filter(|program| {
        let name = &program.name;
        let panel = format!(
            "<script type=\"application/json\" class=\"schedule\" data-name=\"{name}\">\n\
             {{{{#include ../../exercises/graphs/{name}.json}}}}\n</script>"
        );
        !pages.iter().any(|page| page.name == program.chapter && page.text.contains(&panel))
    });
    missing.map(|program| format!("{}: has no panel for {}", program.chapter, program.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    fn kinds() -> Kinds {
        Kinds::read(&Workspace::find().unwrap().exercises()).unwrap()
    }

    #[test]
    fn the_list_has_each_program_and_ends_no_script() {
        let mut kinds = kinds();
        "</script>".clone_into(&mut kinds.schedule[0].title);
        let list = list(&kinds);
        assert_eq!(list.matches("</script>").count(), 1, "{list}");
        let json = list.split_once("schedules\">").unwrap().1.split_once("</script>").unwrap().0;
        let programs: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(programs.as_array().unwrap().len(), kinds.schedule.len());
        assert_eq!(
            programs[0],
            json!({ "name": "schedule1", "title": "</script>", "page": "locks-and-waiting.html" })
        );
    }

    #[test]
    fn a_program_without_a_panel_on_its_page_is_named() {
        let pages = Page::all(&Workspace::find().unwrap().book().join("src")).unwrap();
        let mut kinds = kinds();
        assert_eq!(faults(&pages, &kinds), Vec::<String>::new());
        "first-pool.md".clone_into(&mut kinds.schedule[0].chapter);
        assert_eq!(faults(&pages, &kinds), ["first-pool.md: has no panel for schedule1"]);
    }
}
