/* guard.jsx: show a message in place of a view with an error, so that the other views stay usable.
 *
 * Without this, an error in one view empties the whole page. The error is still printed on the
 * console, which tests check. */
import {Component} from 'preact';

export class Guard extends Component {
    constructor() {
        super();
        this.state = {error: null};
    }

    componentDidCatch(error) {
        console.error(error);
        this.setState({error});
    }

    render({children}, {error}) {
        return error === null ? children
            : <p class="empty" role="alert">This view cannot be shown, which is a mistake of
                heaptap's own: {error.message}. The other views are not concerned.</p>;
    }
}
